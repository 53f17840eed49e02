import type { Secret } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import { watch, type ControllerDefinition } from '@skerry/controller-runtime'
import { ignoreNotFound } from '../ignore-not-found.ts'

/** Deletes bootstrap tokens whose time is over. */
export const tokenCleanerController: ControllerDefinition = {
  name: 'token-cleaner-controller',
  workers: 1,
  watches: [
    watch(resources.secrets, {
      keysOf: ({ type, object }) =>
        type !== 'deleted' && expiryMs(object) !== undefined ? [keyOfObject(object)] : [],
    }),
  ],
  async reconcile(key, context, signal) {
    const secret = context.informer(resources.secrets).get(parseKey(key))
    const atMs = secret && expiryMs(secret)
    if (secret === undefined || atMs === undefined) return
    const leftMs = atMs - context.clock.now()
    if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, 2 ** 31 - 1) }
    const { uid = '' } = secret.metadata
    const request = { ...parseKey(key), preconditions: { uid } }
    await ignoreNotFound(context.client(resources.secrets).delete(request, signal))
    return undefined
  },
}

/** Wall time; undefined for other secrets, and for tokens without an end. One that is no date is over. */
function expiryMs({ type, metadata, data }: Secret): number | undefined {
  if (type !== 'bootstrap.kubernetes.io/token' || metadata.namespace !== 'kube-system') {
    return undefined
  }
  const text = data?.['expiration']
  if (text === undefined) return undefined
  const ms = Date.parse(Buffer.from(text, 'base64').toString())
  return Number.isNaN(ms) ? 0 : ms
}
