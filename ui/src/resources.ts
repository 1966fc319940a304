/** Every resource and its pages: the addresses, the navigation and Ctrl+K are made of this table. */
import type { ComponentType } from 'react'
import { agentResource } from './agents/resource.ts'
import type { Resource } from './blocks/resource.ts'
import { httpToolResource } from './http-tools/resource.ts'
import { keyResource } from './keys/resource.ts'
import { mcpServerResource } from './mcp-servers/resource.ts'
import { promptResource } from './prompts/resource.ts'
import { providerResource } from './providers/resource.ts'
import { webhookResource } from './webhooks/resource.ts'

interface ResourceEntry {
  resource: Resource
  /** The section's name in the navigation. */
  section: 'Build' | 'Tools' | 'Access'
  listPage: () => Promise<{ Component: ComponentType }>
  recordPages: () => Promise<{ New: ComponentType; Existing: ComponentType }>
}

export const resources: readonly ResourceEntry[] = [
  {
    resource: agentResource,
    section: 'Build',
    listPage: () => import('./agents/agents-page.tsx'),
    recordPages: () => import('./agents/agent-page.tsx'),
  },
  {
    resource: promptResource,
    section: 'Build',
    listPage: () => import('./prompts/prompts-page.tsx'),
    recordPages: () => import('./prompts/prompt-page.tsx'),
  },
  {
    resource: providerResource,
    section: 'Build',
    listPage: () => import('./providers/providers-page.tsx'),
    recordPages: () => import('./providers/provider-page.tsx'),
  },
  {
    resource: webhookResource,
    section: 'Build',
    listPage: () => import('./webhooks/webhooks-page.tsx'),
    recordPages: () => import('./webhooks/webhook-page.tsx'),
  },
  {
    resource: httpToolResource,
    section: 'Tools',
    listPage: () => import('./http-tools/http-tools-page.tsx'),
    recordPages: () => import('./http-tools/http-tool-page.tsx'),
  },
  {
    resource: mcpServerResource,
    section: 'Tools',
    listPage: () => import('./mcp-servers/mcp-servers-page.tsx'),
    recordPages: () => import('./mcp-servers/mcp-server-page.tsx'),
  },
  {
    resource: keyResource,
    section: 'Access',
    listPage: () => import('./keys/keys-page.tsx'),
    recordPages: () => import('./keys/key-page.tsx'),
  },
]
