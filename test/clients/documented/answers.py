"""Steps of text generation, structured outputs and streaming."""
import json

from kit import ask, call, expect, left, said, says, simple, status_of, step, stream, text, user

simple("a text", lambda: says(ask("/echo Hello"), "Hello"))
simple("messages", lambda: says(ask([user("/echo Hello")]), "Hello"))
simple("instructions", lambda: says(ask("Who?", instructions="You are a pirate."), "pirate"))
for role in ("developer", "system"):
    message = {"role": role, "content": "Be a pirate."}
    simple(f"a {role} message", lambda message=message: says(ask([message, user("Who?")]), "pirate"))
simple("content in parts", lambda: says(ask([user([text("/echo "), text("Hello")])]), "Hello"))
simple(
    "a history of both roles",
    lambda: says(ask([user("Knock."), {"role": "assistant", "content": "Who?"}, user("/echo Orange")]), "Orange"),
)


@step("max_output_tokens")
def _():
    response = ask("/long 500", max_output_tokens=16)
    expect(response["incomplete_details"] == {"reason": "max_output_tokens"}, response["status"])


simple("temperature and top_p", lambda: ask("Hi", temperature=0.2, top_p=0.9))
simple("metadata", lambda: expect(ask("Hi", metadata={"topic": "demo"})["metadata"] == {"topic": "demo"}, "metadata"))
simple("store: false", lambda: expect(ask("Hi", store=False)["store"] is False, "store"))
simple("safety_identifier", lambda: expect(ask("Hi", safety_identifier="u1")["safety_identifier"] == "u1", "user"))
simple("user", lambda: ask("Hi", user="u1"))
simple(
    "truncation, prompt_cache_key and service_tier",
    lambda: ask("Hi", truncation="auto", prompt_cache_key="k", service_tier="auto"),
)
simple("include", lambda: ask("Hi", include=["reasoning.encrypted_content"]))
simple("usage", lambda: expect(ask("Hi")["usage"]["input_tokens"] > 0, "usage"))
simple("reasoning.effort", lambda: ask("Hi", reasoning={"effort": "low"}))
simple("text.verbosity", lambda: ask("Hi", text={"verbosity": "low"}))
simple("models.list and retrieve", lambda: call("GET", f"/models/{call('GET', '/models')['data'][0]['id']}"))
simple(
    "an unknown model is 404",
    lambda: expect(status_of(lambda: call("POST", "/responses", {"model": "no-such-model", "input": "Hi"})) == 404, "taken"),
)
simple("a stored prompt", lambda: ask("Hi", prompt={"id": "pmpt_1"}), "the agent has the prompt; send `instructions`")
simple("logprobs", lambda: ask("Hi", top_logprobs=2), "not available")


@step("responses.parse")
def _():
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "number"}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "name": "answer", "strict": True, "schema": schema}
    expect(json.loads(said(ask('/echo {"answer":42}', text={"format": form}))) == {"answer": 42}, "answer")


simple(
    "json_object",
    lambda: expect(json.loads(said(ask('/echo {"a":1}', text={"format": {"type": "json_object"}}))) == {"a": 1}, "JSON"),
)


@step("events in their order")
def _():
    seen = list(dict.fromkeys(event["type"].removeprefix("response.") for event in stream("/echo one two")))
    wanted = "created in_progress output_item.added content_part.added output_text.delta output_text.done"
    expect(seen == [*wanted.split(), "content_part.done", "output_item.done", "completed"], seen)


simple("responses.stream", lambda: says(list(stream("/echo Hello"))[-1]["response"], "Hello"))
simple(
    "sequence numbers",
    lambda: expect([event["sequence_number"] == n for n, event in enumerate(stream("Hi"))].count(False) == 0, "numbers"),
)
simple("stream_options", lambda: list(stream("Hi", stream_options={"include_obfuscation": False})))


simple("a stream that is left", lambda: call("POST", f"/responses/{left('/slow 30')[0]}/cancel"))
