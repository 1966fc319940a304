"""Steps of conversation state, stored responses and the background mode."""
import threading

from kit import MESSAGE, ask, call, conversation, events, expect, items_in, left, opened, said, says, settled, simple
from kit import status_of, step, texts, user


@step("previous_response_id")
def _():
    first = ask("My name is Ann.")
    second = ask("Who am I?", previous_response_id=first["id"])
    expect(second["previous_response_id"] == first["id"], "previous_response_id")


@step("previous_response_id with other instructions")
def _():
    first = ask("/echo Hi", instructions="You are a pirate.")
    second = ask("Who?", previous_response_id=first["id"], instructions="You are a robot.")
    says(second, "robot")
    expect("pirate" not in said(second), said(second))


@step("two responses behind one, one after the other")
def _():
    first = ask("Hi")["id"]
    for words in ("A", "B"):
        says(ask(f"/echo {words}", previous_response_id=first), words)


@step("two responses behind one at once")
def _():
    first = ask("Hi")["id"]
    answers = {}

    def one(words):
        answers[words] = status_of(lambda: says(ask(f"/echo {words}", previous_response_id=first), words))

    threads = [threading.Thread(target=one, args=(words,)) for words in "ABC"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(answers == {"A": 200, "B": 200, "C": 200}, answers)


simple(
    "output items in the next input",
    lambda: says(ask([user("Hi"), *ask("Hi")["output"], user("/echo Again")]), "Again"),
)
simple("conversations.create", conversation)


@step("conversations.create with items and metadata")
def _():
    made = call("POST", "/conversations", {"items": [MESSAGE], "metadata": {"topic": "demo"}})
    expect(made["metadata"] == {"topic": "demo"} and texts(items_in(made["id"])) == ["Hi"], made)


@step("a response in a conversation")
def _():
    name = conversation()
    ask("One", conversation=name)
    expect(ask("Two", conversation={"id": name})["conversation"]["id"] == name, "conversation")
    expect(len(items_in(name)) == 4, "four items")


@step("conversations.retrieve")
def _():
    name = conversation()
    expect(call("GET", f"/conversations/{name}")["id"] == name, "id")


@step("conversations.update")
def _():
    changed = call("POST", f"/conversations/{conversation()}", {"metadata": {"topic": "x"}})
    expect(changed["metadata"] == {"topic": "x"}, changed)


@step("conversations.delete")
def _():
    name = conversation()
    expect(call("DELETE", f"/conversations/{name}")["deleted"], "deleted")
    expect(status_of(lambda: call("GET", f"/conversations/{name}")) == 404, "404")


@step("conversations.items.create")
def _():
    expect(texts(call("POST", f"/conversations/{conversation()}/items", {"items": [MESSAGE]})["data"]) == ["Hi"], "items")


def with_item():
    name = conversation(items=[MESSAGE])
    return name, items_in(name)[0]["id"]


@step("conversations.items.retrieve")
def _():
    name, item = with_item()
    expect(call("GET", f"/conversations/{name}/items/{item}")["id"] == item, "id")


@step("conversations.items.delete")
def _():
    name, item = with_item()
    call("DELETE", f"/conversations/{name}/items/{item}")
    expect(items_in(name) == [], "gone")


@step("pages of items")
def _():
    name = conversation(items=[{**MESSAGE, "content": words} for words in "abc"])
    first = call("GET", f"/conversations/{name}/items?order=asc&limit=2")
    rest = items_in(name, f"order=asc&limit=2&after={first['last_id']}")
    expect(first["has_more"] and texts([*first["data"], *rest]) == ["a", "b", "c"], "pages")


simple("responses.retrieve", lambda: says(call("GET", f"/responses/{ask('/echo Hello')['id']}"), "Hello"))


def input_items(response):
    return texts(call("GET", f"/responses/{response['id']}/input_items?order=asc")["data"])


simple("responses.inputItems.list", lambda: expect(input_items(ask("Hello")) == ["Hello"], "items"))


@step("input items of several messages")
def _():
    made = ask([user("One"), user("Two")], previous_response_id=ask("Hi")["id"])
    expect(input_items(made) == ["One", "Two"], input_items(made))


@step("responses.delete")
def _():
    name = ask("Hi")["id"]
    call("DELETE", f"/responses/{name}")
    expect(status_of(lambda: call("GET", f"/responses/{name}")) == 404, "404")


@step("responses.delete of one that others follow", "delete those first")
def _():
    first = ask("Hi")["id"]
    ask("More", previous_response_id=first)
    call("DELETE", f"/responses/{first}")


@step("background")
def _():
    made = ask("/echo Hello", background=True)
    expect(made["status"] in ("queued", "in_progress"), made["status"])
    says(settled(made["id"]), "Hello")


@step("a stream in the background, taken up again")
def _():
    name, last = left("/echo one two three", background=True)
    rest = list(events(opened("GET", f"/responses/{name}?stream=true&starting_after={last}")))
    expect(rest[0]["sequence_number"] == last + 1 and rest[-1]["type"] == "response.completed", rest)


@step("responses.cancel")
def _():
    name = ask("/slow 600", background=True)["id"]
    call("POST", f"/responses/{name}/cancel")
    expect(settled(name)["status"] == "cancelled", "cancelled")
