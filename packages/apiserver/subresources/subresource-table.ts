import type { Clock } from '@skerry/base'
import type { SubresourceHandler } from '../subresource.ts'
import { createBindingHandler } from './binding.ts'
import { createEvictionHandler } from './eviction.ts'
import { createTokenHandler, type TokenSubresourceOptions } from './service-account-token.ts'

export interface SubresourceTableOptions {
  readonly tokens: TokenSubresourceOptions
}

/** Every subresource that is more than a part of its object; the key is `resource/subresource`. */
export function createSubresourceTable(
  options: SubresourceTableOptions,
  clock: Clock,
): Readonly<Record<string, SubresourceHandler>> {
  return Object.freeze({
    'pods/binding': createBindingHandler(clock),
    'pods/eviction': createEvictionHandler(clock),
    'serviceaccounts/token': createTokenHandler(options.tokens, clock),
  })
}
