"""Plain HTTP for the steps, and what they are made of."""
import json
import sys
import time
import urllib.error
import urllib.request

base, key, model = sys.argv[1:4]
PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
NOTE = b"The code is 42."


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status} {body}")
        self.status = status


def opened(method, path, body=None, content_type="application/json"):
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {key}"}
    if data is not None:
        headers["content-type"] = content_type
    try:
        return urllib.request.urlopen(urllib.request.Request(base + path, data, headers, method=method))
    except urllib.error.HTTPError as error:
        raise Refused(error.code, error.read().decode()) from None


def call(method, path, body=None, content_type="application/json"):
    with opened(method, path, body, content_type) as answer:
        return json.loads(answer.read())


def events(answer):
    """Yields the events of a stream, which ends with its connection."""
    with answer:
        for line in answer:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])


def expect(condition, words):
    if not condition:
        raise AssertionError(words)


def ask(content, **more):
    return call("POST", "/responses", {"model": model, "input": content, **more})


def stream(content, **more):
    return events(opened("POST", "/responses", {"model": model, "input": content, "stream": True, **more}))


def said(response):
    return "".join(part["text"] for item in response["output"] if item["type"] == "message" for part in item["content"])


def says(response, words):
    expect(words in said(response), f"no {words} in {said(response)}")


def status_of(run):
    try:
        run()
    except Refused as error:
        return error.status
    return 200


def user(content):
    return {"role": "user", "content": content}


def text(words):
    return {"type": "input_text", "text": words}


def texts(items):
    return [part.get("text", part["type"]) for item in items for part in item.get("content", [])]


def calls(content='/tool get_weather {"city":"Paris"}', **more):
    return ask(content, **{"tools": [TOOL], **more})


def call_in(response):
    return next(item for item in response["output"] if item["type"] == "function_call")


def output_of(response, output="Sunny"):
    return {"type": "function_call_output", "call_id": call_in(response)["call_id"], "output": output}


def conversation(**body):
    return call("POST", "/conversations", body)["id"]


def items_in(name, query="order=asc"):
    return call("GET", f"/conversations/{name}/items?{query}")["data"]


def upload():
    form = (
        b'--x\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n'
        b'--x\r\ncontent-disposition: form-data; name="file"; filename="note.txt"\r\n\r\n' + NOTE + b"\r\n--x--\r\n"
    )
    return call("POST", "/files", form, "multipart/form-data; boundary=x")


def settled(name):
    while True:
        response = call("GET", f"/responses/{name}")
        if response["status"] not in ("queued", "in_progress"):
            return response
        time.sleep(0.1)


TOOL = {
    "type": "function",
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}
MESSAGE = {"type": "message", **user("Hi")}
steps = {}
refusals = {}


def step(name, words=""):
    def add(run):
        steps[name] = run
        refusals[name] = words

    return add


def simple(name, run, words=""):
    step(name, words)(run)


def left(content, **more):
    """Leaves a stream at its first delta. Returns the response's id, and the last number."""
    name = ""
    for event in stream(content, **more):
        name = event.get("response", {}).get("id", name)
        if event["type"] == "response.output_text.delta":
            return name, event["sequence_number"]
