import { operations } from '../../operation.ts'
import { searchPage } from '../../schemas/basics.ts'
import {
  Provider,
  ProviderCreate,
  ProviderList,
  ProviderTest,
  ProviderTypeList,
  ProviderUpdate,
} from '../../schemas/records/configuration.ts'

const one = '/api/v1/settings/providers/{id}'
const unknown = 'There is no such provider.'
const taken = 'Another provider has this name.'

export const providers = operations({
  listProviderTypes: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/provider-types',
    scope: 'management',
    role: 'viewer',
    summary: 'List the supported model vendors',
    responses: { 200: ProviderTypeList },
  },
  listProviders: {
    method: 'get',
    refusesUnknown: true,
    path: '/api/v1/settings/providers',
    scope: 'management',
    role: 'viewer',
    summary: 'List providers, oldest first',
    query: searchPage,
    responses: { 200: ProviderList },
  },
  createProvider: {
    method: 'post',
    path: '/api/v1/settings/providers',
    scope: 'management',
    role: 'admin',
    summary: 'Create a provider',
    body: ProviderCreate,
    responses: { 201: Provider },
    errors: { 409: taken },
  },
  getProvider: {
    method: 'get',
    path: one,
    scope: 'management',
    role: 'viewer',
    summary: 'Read a provider',
    responses: { 200: Provider },
    errors: { 404: unknown },
  },
  updateProvider: {
    method: 'put',
    path: one,
    scope: 'management',
    role: 'admin',
    summary: 'Change a provider',
    description: 'Changes the fields in the body. An absent `apiKey` keeps the stored one.',
    body: ProviderUpdate,
    responses: { 200: Provider },
    errors: { 404: unknown, 409: taken },
  },
  deleteProvider: {
    method: 'delete',
    path: one,
    scope: 'management',
    role: 'admin',
    summary: 'Delete a provider',
    responses: { 204: null },
    errors: { 404: unknown, 409: 'Agents use it; the message names them.' },
  },
  testProvider: {
    method: 'post',
    path: `${one}/test`,
    scope: 'management',
    role: 'admin',
    summary: 'Test the connection to a provider',
    description: 'Lists its models, or makes the cheapest possible call, within 10 s. Always 200: see `ok`.',
    responses: { 200: ProviderTest },
    errors: { 404: unknown },
  },
})
