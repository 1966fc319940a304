"""The official Python client. JSON lines in: `{"id", "how", "ask"}` begins a call, `{"id", "abort": true}` aborts it.
JSON lines out: `{"id", "text"}` for each piece of it and `{"id", "told"}` at its end."""

import asyncio
import functools
import json
import sys

import openai

LOOKUP = {
    "type": "function",
    "function": {"name": "lookup", "description": "Looks a word up.", "parameters": {"type": "object", "properties": {}}},
}


def say(line):
    print(json.dumps(line), flush=True)


def part_of(part):
    return part if part["type"] == "text" else {"type": "image_url", "image_url": {"url": part["url"]}}


def body_of(ask, stream):
    messages = [
        {**one, "content": one["content"] if isinstance(one["content"], str) else [part_of(p) for p in one["content"]]}
        for one in ask["messages"]
    ]
    body = {"model": "any", "messages": messages}
    if stream and ask.get("usage"):
        body["stream_options"] = {"include_usage": True}
    if ask.get("tools"):
        body["tools"] = [LOOKUP]
    return body


def usage_of(usage):
    return usage and {"input": usage.prompt_tokens, "output": usage.completion_tokens}


def take_whole(told, completion):
    choice = completion.choices[0]
    told["text"] = choice.message.content or ""
    told["finish"] = choice.finish_reason
    told["toolCalls"] = len(choice.message.tool_calls or [])
    told["usage"] = usage_of(completion.usage)


async def whole(client, ask, told, _):
    take_whole(told, await client.chat.completions.create(**body_of(ask, False)))


async def stream(client, ask, told, tell):
    async with await client.chat.completions.create(**body_of(ask, True), stream=True) as chunks:
        async for chunk in chunks:
            choice = chunk.choices[0] if chunk.choices else None
            piece = (choice and choice.delta.content) or ""
            told["text"] += piece
            if piece:
                tell({"text": piece})
            told["finish"] = (choice and choice.finish_reason) or told["finish"]
            told["toolCalls"] += len((choice and choice.delta.tool_calls) or [])
            told["usage"] = usage_of(chunk.usage) or told["usage"]


async def helper(client, ask, told, _):
    async with client.chat.completions.stream(**body_of(ask, True)) as events:
        take_whole(told, await events.get_final_completion())


async def call(how, ask, tell):
    told = {"text": "", "finish": None, "usage": None, "toolCalls": 0, "error": None}
    client = openai.AsyncOpenAI(
        base_url=ask["baseURL"],
        api_key=ask["apiKey"],
        max_retries=ask["retries"],
        default_headers=ask.get("headers"),
        timeout=60,
    )
    try:
        async with client:
            await {"whole": whole, "stream": stream, "helper": helper}[how](client, ask, told, tell)
    except (Exception, asyncio.CancelledError) as error:
        status = getattr(error, "status_code", None)
        told["error"] = {"name": type(error).__name__, "status": status, "message": str(error)}
    tell({"told": told})


async def main():
    loop = asyncio.get_running_loop()
    calls = {}
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        wanted = json.loads(line)
        number = wanted["id"]
        if "abort" in wanted:
            calls[number].cancel()
        else:
            tell = functools.partial(lambda number, line: say({"id": number, **line}), number)
            calls[number] = asyncio.create_task(call(wanted["how"], wanted["ask"], tell))


asyncio.run(main())
