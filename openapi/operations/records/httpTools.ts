import { operations } from '../../operation.ts'
import { searchPage } from '../../schemas/basics.ts'
import { HttpToolTest, HttpToolTestRequest } from '../../schemas/records/tool-tests.ts'
import { HttpTool, HttpToolCreate, HttpToolList, HttpToolUpdate } from '../../schemas/records/tools.ts'

const one = '/api/v1/http-tools/{id}'
const unknown = 'There is no such HTTP tool.'

export const httpTools = operations({
  listHttpTools: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/http-tools',
    scope: 'management',
    role: 'viewer',
    summary: 'List HTTP tools, oldest first',
    query: searchPage,
    responses: { 200: HttpToolList },
  },
  createHttpTool: {
    method: 'post',
    path: '/api/v1/http-tools',
    scope: 'management',
    role: 'editor',
    summary: 'Create an HTTP tool',
    body: HttpToolCreate,
    responses: { 201: HttpTool },
  },
  getHttpTool: {
    method: 'get',
    path: one,
    scope: 'management',
    role: 'viewer',
    summary: 'Read an HTTP tool',
    responses: { 200: HttpTool },
    errors: { 404: unknown },
  },
  updateHttpTool: {
    method: 'put',
    path: one,
    scope: 'management',
    role: 'editor',
    summary: 'Change an HTTP tool',
    description: 'Changes the fields in the body; `headers` and `inputSchema` are each replaced as a whole.',
    body: HttpToolUpdate,
    responses: { 200: HttpTool },
    errors: { 404: unknown },
  },
  deleteHttpTool: {
    method: 'delete',
    path: one,
    scope: 'management',
    role: 'editor',
    summary: 'Delete an HTTP tool',
    description: 'Also removes it from the tool configurations of agents.',
    responses: { 204: null },
    errors: { 404: unknown },
  },
  testHttpTool: {
    method: 'post',
    path: `${one}/test`,
    scope: 'management',
    role: 'editor',
    summary: 'Run the tool once',
    description: 'Calls it as a model would. Always 200: see `ok`.',
    body: HttpToolTestRequest,
    bodyOptional: true,
    maxBodyBytes: 256 * 1024, // arguments are of the size that a model writes
    responses: { 200: HttpToolTest },
    errors: { 404: unknown },
  },
})
