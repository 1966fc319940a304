/** The rules of contract section 34, a conformance suite that anyone can run: a part of requirements.ts. */
export const conformance = {
  'contract-34.greenroom':
    'Greenroom passes level durable with one instance, and cluster with two on one PostgreSQL, with and without Redis.',
  'contract-34.adapters':
    'The built-in adapters speak published protocols; the wires of Greenroom pass what these offer.',
  'contract-34.model':
    'The suite’s own model speaks chat completions and Responses, and answers by the rule in the user’s message.',
  'contract-34.command':
    'Wrong use is exit 2 and one line; what fails or cannot be run is exit 1; `--json` holds each outcome.',
  'contract-34.interrupt': 'SIGINT ends the command within 2 s with what it has, and what it started ends with it.',
  'contract-34.finds':
    'The suite finds each fault by the check that is named for it, and by none that has nothing to do with it.',
  'contract-34.break-it':
    '`/break-it` and what was below it are as any unknown path: 404, to a browser the pages’ own.',
} as const
