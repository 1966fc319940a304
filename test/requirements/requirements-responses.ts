/** The rules of contract section 24, the Responses API: a part of requirements.ts. */
export const responses = {
  'contract-24.create':
    'A request makes a conversation, goes on in one, or behind a response; what is unknown is refused.',
  'contract-24.key-sessions':
    'The id of a session that an Idempotency-Key makes follows from a secret; only its own user joins it.',
  'contract-24.object': 'The object has every field of the list, its status, its ids and its conversation.',
  'contract-24.errors': 'Errors are OpenAI’s object in every status.',
  'contract-24.stateless': 'store: false stores nothing; what needs something stored is 400 beside it.',
  'contract-24.whole-history':
    'A client that sends everything goes on where its last known item is; without one its input begins a conversation.',
  'contract-24.parts': 'input_image and input_file are taken as the parts of chat completions.',
  'contract-24.fields': 'Fields of the answer are honoured or refused by their own names; what is not used is named.',
  'contract-24.session-fields': 'metadata and safety_identifier, else user, become a new session’s.',
  'contract-24.busy': 'A busy session is 409; on_busy: interrupt cancels first.',
  'contract-24.background': 'background answers at once, and the response is read, followed and cancelled later.',
  'contract-24.calls': 'Calls of the caller’s tools are function_call items; their outputs go on.',
  'contract-24.approvals': 'Approvals are mcp_approval_request items where they are asked for; responses decide them.',
  'contract-24.events': 'Events are OpenAI’s, numbered from 0 without gaps, with event: and id: lines, and no [DONE].',
  'contract-24.numbers': 'The same events stand under the same numbers for every reader, running or settled, for ever.',
  'contract-24.resume': 'starting_after and Last-Event-ID go on behind any number.',
  'contract-24.read': 'A response is read by its id, of whichever API began it.',
  'contract-24.cancel': 'A cancel answers with the response, also when it has ended.',
  'contract-24.input-items': 'input_items lists what that request brought.',
  'contract-24.delete': 'The last response goes with its question and the head moves back; else 409; then 404.',
  'contract-24.conversations': 'Conversations are sessions: made with items, read, changed, listed in pages, deleted.',
  'contract-24.failed': 'A failed one is 500 with its code; read later it shows failed.',
  'contract-24.unmodified':
    'openai, @openai/agents, the AI SDK and LangChain talk and call tools in their default mode.',
  'contract-24.by-model': 'Below /api/v1/openai model or an id names the agent.',
  'contract-24.secrets': 'A client secret reaches the responses of its user alone.',
  'contract-24.at-once': 'Requests behind one ended response at once are each answered, in copies of the conversation.',
  'contract-32.instructions':
    'Instructions are appended on the Responses API by default, for that request alone; elsewhere they are refused.',
  'contract-32.secret-instructions': 'A client secret’s instructions are 403, unless the agent appends everybody’s.',
  'contract-32.fields': 'Each field of a request is honoured, or named in x-greenroom-ignored, or refused by its name.',
  'contract-32.max-tool-calls': 'max_tool_calls lowers the agent’s number, also for replies that continue the reply.',
  'contract-32.tool-types': 'A tool of another type is 400 that names the type and what to use instead.',
  'contract-32.turns':
    'Each model turn with text is one message item; turns with calls are commentary, the last one final_answer.',
  'contract-32.parse': 'responses.parse works behind a sentence.',
  'contract-32.ends-in-outputs': 'A new session’s history may end in outputs: the reply goes on from their message.',
  'contract-32.output-lists':
    'An output is a text or a list; its pictures and files reach the model with the result of its call.',
  'contract-32.foreign-items': 'Items of OpenAI’s own tools are passed over and named; custom calls are read as calls.',
  'contract-32.items': 'Items are put behind the head of a conversation, all or none, and read by their ids.',
  'contract-32.items-held': 'While something runs, waits or is queued, items are neither given nor taken: 409.',
  'contract-32.items-repeated':
    'A retry, and a copy of what was answered here, store nothing and are answered with what is there.',
  'contract-32.items-taken':
    'The last item is taken back, an output with its call; what is left of a reply is a given message.',
  'contract-32.conversations-session': 'OpenAIConversationsSession of @openai/agents works unmodified.',
  'contract-32.repeated-path':
    'Items without ids of ours that equal the path behind a known item are known; if one differs, all is a new history.',
  'contract-32.queued-cancel':
    'A cancel takes a queued response out; for 24 hours it reads as cancelled, then it is 404.',
  'contract-32.input-tokens': 'input_tokens estimates what the model would be sent, asks nobody and stores nothing.',
  'contract-32.compact': 'compact summarises a conversation up to its newest response; its item names the place.',
  'contract-32.compact-given':
    'compact summarises a history that is stored nowhere, and stores nothing; its item can begin a conversation.',
  'contract-32.surface': 'Each call and field of OpenAI’s two APIs does what docs/responses-fields.md says.',
  'contract-32.history-parts': 'Every user message of a response’s input may hold pictures and files.',
  'contract-32.files': 'Files are uploaded, listed, read and deleted, below an agent and below /api/v1/openai.',
  'contract-32.files-form': 'A form that is no upload is 400 that names the field, or 415.',
  'contract-32.files-owners': 'A file is seen by its user and the keys of its agent; for others it is unknown.',
  'contract-32.files-size':
    'A file, and all of a user, have a limit: 413, nothing stored; uploads at once do not exceed it together.',
  'contract-32.files-held': 'No upload and no content makes an instance hold more than 2 MiB of it.',
  'contract-32.files-types': 'The type of a file is told by its bytes, never by its name.',
  'contract-32.file-ids':
    'Messages name files by their ids, as if the bytes had been sent; they keep them when the file goes.',
  'contract-32.documents': 'Word and Excel documents reach the model as text: paragraphs, tables, and sheets as CSV.',
  'contract-32.broken-documents':
    'A document that is broken, encrypted or too large is 400 that says which, and nothing is stored.',
  'contract-32.files-end': 'An expired file is 404; a user’s files go with the user, and stand in the export.',
  'contract-35.stream-of-key': 'On the Responses API stream is not part of the body that a key is held to.',
} as const
