"""Counts the words of its task: reads one request from standard input, answers in lines of JSON."""
import json, os, sys, tempfile

def say(**line):
    print(json.dumps(line), flush=True)  # flushed, so that it is heard at once

request = json.load(sys.stdin)
task = request["task"]
if not task:
    say(type="error", kind="blocking", message="the task is empty")
    sys.exit(1)
say(type="heartbeat")

# The key is the same however often the same work is tried: what was done under it is not done again.
done = os.path.join(tempfile.gettempdir(), "words-py-" + request["idempotency_key"])
if not os.path.exists(done):
    say(type="progress", percent=50, message="counting")
    with open(done + ".part", "w") as f:
        json.dump({"words": len(task.split())}, f)
    os.replace(done + ".part", done)
with open(done) as f:
    say(type="result", output=json.load(f))
