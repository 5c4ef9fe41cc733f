// Counts the words of its task: reads one request from standard input, answers in lines of JSON.
const fs = require("fs"), os = require("os"), path = require("path");
const say = (line) => fs.writeSync(1, JSON.stringify(line) + "\n"); // written at once, so that it is heard

const request = JSON.parse(fs.readFileSync(0, "utf8"));
if (!request.task) {
  say({ type: "error", kind: "blocking", message: "the task is empty" });
  process.exit(1);
}
say({ type: "heartbeat" });

// The key is the same however often the same work is tried: what was done under it is not done again.
const done = path.join(os.tmpdir(), "words-js-" + request.idempotency_key);
if (!fs.existsSync(done)) {
  say({ type: "progress", percent: 50, message: "counting" });
  const words = request.task.split(/\s+/).filter((word) => word).length;
  fs.writeFileSync(done + ".part", JSON.stringify({ words }));
  fs.renameSync(done + ".part", done);
}
say({ type: "result", output: JSON.parse(fs.readFileSync(done, "utf8")) });
