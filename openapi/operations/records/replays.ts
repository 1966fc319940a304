import { operations } from '../../operation.ts'
import {
  Replay,
  ReplayCase,
  ReplayCreate,
  ReplayDetail,
  ReplayList,
  replayPage,
  Verdict,
} from '../../schemas/records/replays.ts'

const all = '/api/v1/agents/{id}/replays'
const one = `${all}/{replay_id}`
const unknown = 'There is no such agent or replay.'

export const replays = operations({
  createReplay: {
    method: 'post',
    path: all,
    scope: 'management',
    role: 'editor',
    summary: 'Ask stored questions again under a version',
    description: 'Calls no tool, and touches no session. Replays are kept for 30 days.',
    body: ReplayCreate,
    responses: { 202: Replay },
    errors: {
      404: 'There is no such agent.',
      409: 'Another replay of the agent runs, or the provider of the version is gone.',
    },
  },
  listReplays: {
    method: 'get',
    refusesUnknown: true,
    path: all,
    scope: 'management',
    role: 'editor',
    summary: 'List the replays of an agent, newest first',
    query: replayPage,
    responses: { 200: ReplayList },
    errors: { 404: 'There is no such agent.' },
  },
  getReplay: {
    method: 'get',
    refusesUnknown: true,
    path: one,
    scope: 'management',
    role: 'editor',
    summary: 'Read a replay and its cases',
    query: replayPage,
    responses: { 200: ReplayDetail },
    errors: { 404: unknown },
  },
  cancelReplay: {
    method: 'post',
    path: `${one}/cancel`,
    scope: 'management',
    role: 'editor',
    summary: 'Cancel a replay',
    responses: { 204: null },
    errors: { 404: unknown },
  },
  deleteReplay: {
    method: 'delete',
    path: one,
    scope: 'management',
    role: 'editor',
    summary: 'Delete a replay, cancelling it first',
    responses: { 204: null },
    errors: { 404: unknown },
  },
  judgeReplayCase: {
    method: 'put',
    path: `${one}/cases/{message_id}`,
    scope: 'management',
    role: 'editor',
    summary: 'Say whether a reply became better',
    body: Verdict,
    responses: { 200: ReplayCase },
    errors: { 404: 'There is no such agent, replay or case.' },
  },
})
