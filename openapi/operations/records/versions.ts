import { operations } from '../../operation.ts'
import {
  AgentVersion,
  AgentVersionDetail,
  AgentVersionList,
  PublishRequest,
  versionPage,
} from '../../schemas/records/versions.ts'

const agent = '/api/v1/agents/{id}'
const all = `${agent}/versions`
const one = `${all}/{n}`
const unknown = 'There is no such agent or version.'

export const versions = operations({
  listAgentVersions: {
    method: 'get',
    refusesUnknown: true,
    path: all,
    scope: 'management',
    role: 'viewer',
    summary: 'List the versions of an agent, newest first',
    query: versionPage,
    responses: { 200: AgentVersionList },
    errors: { 404: 'There is no such agent.' },
  },
  getAgentVersion: {
    method: 'get',
    path: one,
    scope: 'management',
    role: 'viewer',
    summary: 'Read a version of an agent',
    responses: { 200: AgentVersionDetail },
    errors: { 404: unknown },
  },
  publishAgentVersion: {
    method: 'post',
    path: `${one}/publish`,
    scope: 'management',
    role: 'editor',
    summary: 'Publish a version again',
    description:
      'Makes a new version equal to it, and answers with the live version. Where its prompt has changed since, the agent gets the text as its `systemPrompt`. Tools that are gone are left out.',
    body: PublishRequest,
    bodyOptional: true,
    responses: { 200: AgentVersion },
    errors: { 404: unknown, 409: 'A provider of the version is gone.' },
  },
  publishAgent: {
    method: 'post',
    path: `${agent}/publish`,
    scope: 'management',
    role: 'editor',
    summary: 'Publish the draft of an agent',
    description: 'Makes the draft the live version, and removes the draft.',
    headers: { 'If-Match': 'The `ETag` of an answer with `draft=true`: publishes the draft as it was read, else 412.' },
    body: PublishRequest,
    bodyOptional: true,
    responses: { 200: AgentVersion },
    errors: { 404: 'There is no such agent.', 409: 'There is no draft.', 412: 'The draft was changed.' },
  },
  deleteAgentDraft: {
    method: 'delete',
    path: `${agent}/draft`,
    scope: 'management',
    role: 'editor',
    summary: 'Discard the draft of an agent',
    responses: { 204: null },
    errors: { 404: 'There is no such agent, or no draft.' },
  },
})
