import type { Secret } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import { selected, watch, type ControllerDefinition } from '@skerry/controller-runtime'
import { ignoreNotFound } from '../ignore-not-found.ts'

/** Bootstrap tokens; only those of kube-system are any. */
const tokens = selected(resources.secrets, {
  fieldSelector: 'type=bootstrap.kubernetes.io/token,metadata.namespace=kube-system',
})

/** Deletes bootstrap tokens whose time is over. */
export const tokenCleanerController: ControllerDefinition = {
  name: 'token-cleaner-controller',
  workers: 1,
  watches: [
    watch(tokens, {
      keysOf: ({ type, object }) =>
        type !== 'deleted' && expiryMs(object) !== undefined ? [keyOfObject(object)] : [],
    }),
  ],
  async reconcile(key, context, signal) {
    const secret = context.informer(tokens).get(parseKey(key))
    const atMs = secret && expiryMs(secret)
    if (secret === undefined || atMs === undefined) return
    const leftMs = atMs - context.clock.now()
    if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, 2 ** 31 - 1) }
    const { uid = '' } = secret.metadata
    const request = { ...parseKey(key), preconditions: { uid } }
    await ignoreNotFound(context.client(tokens).delete(request, signal))
    return undefined
  },
}

/** Wall time; undefined for tokens without an end. One that is no date is over. */
function expiryMs({ data }: Secret): number | undefined {
  const text = data?.['expiration']
  if (text === undefined) return undefined
  const ms = Date.parse(Buffer.from(text, 'base64').toString())
  return Number.isNaN(ms) ? 0 : ms
}
