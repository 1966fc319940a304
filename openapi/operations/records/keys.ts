import { operations } from '../../operation.ts'
import { searchPage } from '../../schemas/basics.ts'
import { KeyUse } from '../../schemas/limits.ts'
import { Key, KeyCreate, KeyCreated, KeyList, KeyUpdate } from '../../schemas/records/keys.ts'

const path = '/api/v1/keys'
const one = `${path}/{id}`
const unknown = 'There is no such key.'

export const keys = operations({
  listKeys: {
    method: 'get',
    refusesUnknown: true,
    path,
    scope: 'management',
    role: 'admin',
    loginAlone: true,
    summary: 'List keys, oldest first',
    query: searchPage,
    responses: { 200: KeyList },
  },
  createKey: {
    method: 'post',
    path,
    scope: 'management',
    role: 'admin',
    loginAlone: true,
    summary: 'Create a key',
    description: 'The key itself is in this answer alone.',
    body: KeyCreate,
    responses: { 201: KeyCreated },
  },
  getKey: {
    method: 'get',
    path: one,
    scope: 'management',
    role: 'admin',
    loginAlone: true,
    summary: 'Read a key',
    responses: { 200: Key },
    errors: { 404: unknown },
  },
  updateKey: {
    method: 'put',
    path: one,
    scope: 'management',
    role: 'admin',
    loginAlone: true,
    summary: 'Change a key',
    description: 'Takes effect on every instance within 2 s.',
    body: KeyUpdate,
    responses: { 200: Key },
    errors: { 404: unknown },
  },
  getKeyUse: {
    method: 'get',
    path: `${one}/use`,
    scope: 'management',
    role: 'admin',
    loginAlone: true,
    summary: 'Read what a key has used of its limits',
    description: 'Tokens and cost are counted for every key, requests and running replies where they are limited.',
    responses: { 200: KeyUse },
    errors: { 404: unknown },
  },
  deleteKey: {
    method: 'delete',
    path: one,
    scope: 'management',
    role: 'admin',
    loginAlone: true,
    summary: 'Delete a key',
    description: 'Within 2 s every instance refuses it, and streams that were opened with it end. Replies run on.',
    responses: { 204: null },
    errors: { 404: unknown },
  },
})
