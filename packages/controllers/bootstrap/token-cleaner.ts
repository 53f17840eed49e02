import { keyOfObject, parseKey } from '@skerry/client'
import { watch, type ControllerDefinition } from '@skerry/controller-runtime'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { bootstrapTokens, expiryMs } from './bootstrap-tokens.ts'

/** Deletes expired bootstrap tokens. */
export const tokenCleanerController: ControllerDefinition = {
  name: 'token-cleaner-controller',
  workers: 1,
  watches: [
    watch(bootstrapTokens, {
      keysOf: ({ type, object }) =>
        type !== 'deleted' && expiryMs(object) !== undefined ? [keyOfObject(object)] : [],
    }),
  ],
  async reconcile(key, context, signal) {
    const secret = context.informer(bootstrapTokens).get(parseKey(key))
    const atMs = secret && expiryMs(secret)
    if (secret === undefined || atMs === undefined) return
    const leftMs = atMs - context.clock.now()
    if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, 2 ** 31 - 1) }
    const { uid = '' } = secret.metadata
    const request = { ...parseKey(key), preconditions: { uid } }
    await ignoreNotFound(context.client(bootstrapTokens).delete(request, signal))
    return undefined
  },
}
