"""Steps of function calling, pictures, files, OpenAI's own tools, counting and compaction."""
import base64
import json

from kit import NOTE, PIXEL, TOOL, ask, call, call_in, calls, conversation, expect, model, opened, output_of, says
from kit import simple, status_of, step, stream, text, upload, user

simple("a function is called", lambda: expect(json.loads(call_in(calls())["arguments"]) == {"city": "Paris"}, "call"))


@step("its output behind previous_response_id")
def _():
    first = calls()
    says(ask([output_of(first)], previous_response_id=first["id"], tools=[TOOL]), "Sunny")


def in_whole_input(**more):
    first = calls(**more)
    whole = [user('/tool get_weather {"city":"Paris"}'), *first["output"], output_of(first)]
    says(ask(whole, tools=[TOOL], **more), "Sunny")


simple("its output in the whole input", in_whole_input)
simple("its output with store: false", lambda: in_whole_input(store=False))


@step("its output in a conversation")
def _():
    name = conversation()
    says(ask([output_of(calls(conversation=name))], conversation=name, tools=[TOOL]), "Sunny")


@step("events of a call")
def _():
    seen = [event["type"] for event in stream('/tool get_weather {"city":"Paris"}', tools=[TOOL])]
    expect("response.function_call_arguments.done" in seen, seen)


@step("tool_choice")
def _():
    for choice in ("required", "none", {"type": "function", "name": "get_weather"}):
        calls(tool_choice=choice)


simple("parallel_tool_calls", lambda: expect(calls(parallel_tool_calls=False)["parallel_tool_calls"] is False, "field"))
simple("max_tool_calls", lambda: expect(calls(max_tool_calls=2)["max_tool_calls"] == 2, "field"))


@step("an output as a list of texts")
def _():
    first = calls()
    says(ask([output_of(first, [text("Sunny")])], previous_response_id=first["id"]), "Sunny")


@step("an output with a picture")
def _():
    first = calls()
    shown = [text("Sunny"), {"type": "input_image", "image_url": PIXEL}]
    ask([output_of(first, shown)], previous_response_id=first["id"])


ALLOWED = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "get_weather"}]}
simple("tool_choice allowed_tools", lambda: calls(tool_choice=ALLOWED), "send the tools that are allowed")
simple("a custom tool", lambda: ask("Hi", tools=[{"type": "custom", "name": "code"}]), "a tool of type `function`")
simple("a picture", lambda: ask([user([text("What is it?"), {"type": "input_image", "image_url": PIXEL}])]))
DATA = "data:text/plain;base64," + base64.b64encode(NOTE).decode()
simple(
    "a file as file_data",
    lambda: ask([user([text("What is it?"), {"type": "input_file", "filename": "note.txt", "file_data": DATA}])]),
)


@step("files.create, retrieve and list")
def _():
    made = upload()
    expect(call("GET", f"/files/{made['id']}")["filename"] == "note.txt", made)
    expect(made["id"] in [one["id"] for one in call("GET", "/files")["data"]], "listed")


simple("files.content", lambda: expect(opened("GET", f"/files/{upload()['id']}/content").read() == NOTE, "content"))
simple("files.delete", lambda: expect(call("DELETE", f"/files/{upload()['id']}")["deleted"], "deleted"))
simple(
    "a file by its file_id",
    lambda: ask([user([text("What is it?"), {"type": "input_file", "file_id": upload()["id"]}])]),
)
simple(
    "a file by its address",
    lambda: ask([user([{"type": "input_file", "file_url": "https://example.com/a.pdf"}])]),
    "send `file_data` or `file_id`",
)
simple(
    "web_search",
    lambda: ask("Hi", tools=[{"type": "web_search"}]),
    "the agent’s tool `web_fetch`, an HTTP tool or an MCP server",
)
simple(
    "file_search",
    lambda: ask("Hi", tools=[{"type": "file_search", "vector_store_ids": ["vs_1"]}]),
    "an HTTP tool or an MCP server, or `input_file`",
)


@step("code_interpreter and a remote mcp", "an MCP server of the agent, or a tool of type `function`")
def _():
    remote = {"type": "mcp", "server_label": "a", "server_url": "https://example.com/mcp"}
    expect(status_of(lambda: ask("Hi", tools=[remote])) == 400, "mcp was taken")
    ask("Hi", tools=[{"type": "code_interpreter", "container": {"type": "auto"}}])


simple(
    "responses.inputTokens.count",
    lambda: expect(call("POST", "/responses/input_tokens", {"model": model, "input": "Hi"})["input_tokens"] > 0, "none"),
)


@step("responses.compact")
def _():
    made = ask("Hi")
    compacted = call("POST", "/responses/compact", {"model": model, "previous_response_id": made["id"]})
    says(ask([*compacted["output"], user("/echo Again")]), "Again")
