import type { Clock, Random } from '@skerry/base'
import type { SubresourceHandler } from '../contract/subresource.ts'
import type { BackendDial } from './backend/backend-dial.ts'
import { createLogHandler } from './backend/pod-log.ts'
import { createPodStreamHandler } from './backend/pod-stream.ts'
import {
  createNodeProxy,
  createPodProxy,
  createServiceProxy,
  type ProxyDeps,
} from './backend/proxy.ts'
import { createBindingHandler } from './binding.ts'
import { createEvictionHandler } from './eviction.ts'
import { createTokenHandler, type TokenSubresourceOptions } from './service-account-token.ts'

export interface SubresourceTableOptions {
  readonly tokens: TokenSubresourceOptions
  /** Omitted on servers without nodes, such as a hub; those subresources are then not served. */
  readonly dial?: BackendDial
}

export interface SubresourceTableDeps {
  readonly clock: Clock
  readonly random: Random
}

/** Every subresource that is more than a part of its object. The key is `resource/subresource`. */
export function createSubresourceTable(
  { tokens, dial }: SubresourceTableOptions,
  { clock, random }: SubresourceTableDeps,
): Readonly<Record<string, SubresourceHandler>> {
  return Object.freeze({
    'pods/binding': createBindingHandler(clock),
    'pods/eviction': createEvictionHandler(clock),
    'serviceaccounts/token': createTokenHandler(tokens, clock),
    ...(dial ? podSubresources({ dial, clock, random }) : {}),
  })
}

function podSubresources(deps: ProxyDeps): Readonly<Record<string, SubresourceHandler>> {
  return {
    'pods/log': createLogHandler(deps),
    'pods/exec': createPodStreamHandler(deps, 'exec'),
    'pods/attach': createPodStreamHandler(deps, 'attach'),
    'pods/portforward': createPodStreamHandler(deps, 'portforward'),
    'pods/proxy': createPodProxy(deps),
    'nodes/proxy': createNodeProxy(deps),
    'services/proxy': createServiceProxy(deps),
  }
}
