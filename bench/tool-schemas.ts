/** The tools of the case `tools`, under the names that the model uses. */
const object = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] })

/** The MCP server is called `Bench`, its tool `echo`. */
export const toolSchemas = { weather: object('city'), Bench__echo: object('text') }
