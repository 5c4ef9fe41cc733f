"""A model that is not there: it speaks the chat completions of OpenAI and the messages of Anthropic, on the loopback address.

    python3 model.py [PORT]

It writes a long text, and a short one once the request has feedback. As a judge it likes short texts.
"""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LONG = "These are release notes, and there is much to say about each of the changes, so we say it at length. " * 3
SHORT = "New: agents ask models by API."


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = asked["messages"][-1]["content"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        if self.path.endswith("/chat/completions"):
            self.write_text(SHORT if "<feedback" in text else LONG)
        else:
            self.judge(text)

    def say(self, event, name=None):
        if name:
            self.wfile.write(f"event: {name}\n".encode())
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()

    def write_text(self, text):
        for word in text.split():
            self.say({"choices": [{"index": 0, "delta": {"content": word + " "}}]})
        self.say({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                  "usage": {"prompt_tokens": 120, "completion_tokens": len(text.split())}})
        self.wfile.write(b"data: [DONE]\n\n")

    def judge(self, text):
        verdict = {"scores": {"brevity": 0.1 if "at length" in text else 0.9}, "findings": []}
        self.say({"type": "message_start", "message": {"usage": {"input_tokens": 200, "output_tokens": 1}}}, "message_start")
        self.say({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t1", "name": "answer", "input": {}}}, "content_block_start")
        self.say({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": json.dumps(verdict)}}, "content_block_delta")
        self.say({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}}, "message_delta")
        self.say({"type": "message_stop"}, "message_stop")

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8089), Model)
print(server.server_port, flush=True)
server.serve_forever()
