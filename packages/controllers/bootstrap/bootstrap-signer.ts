import { bootstrapSecretName, isStatusError, type Secret } from '@skerry/api'
import { parseKey, resources } from '@skerry/client'
import { selected, watch, type ControllerDefinition } from '@skerry/controller-runtime'
import { detachedSignature } from '@skerry/pki'
import { bootstrapTokens, expiryMs, textOf } from './bootstrap-tokens.ts'

const clusterInfo = 'kube-public/cluster-info'
const clusterInfoMaps = selected(resources.configMaps, {
  fieldSelector: 'metadata.name=cluster-info,metadata.namespace=kube-public',
})
const signaturePrefix = 'jws-kubeconfig-'

/** Signs cluster-info with every bootstrap token that may sign, regardless of its author. */
export const bootstrapSignerController: ControllerDefinition = {
  name: 'bootstrap-signer-controller',
  workers: 1,
  watches: [
    watch(clusterInfoMaps, { keysOf: () => [clusterInfo] }),
    watch(bootstrapTokens, { keysOf: () => [clusterInfo] }),
  ],
  async reconcile(key, context, signal) {
    const map = context.informer(clusterInfoMaps).get(parseKey(key))
    const content = map?.data?.['kubeconfig']
    if (map?.data === undefined || content === undefined) return
    const nowMs = context.clock.now()
    const tokens = context.informer(bootstrapTokens).list()
    const wanted = signaturesOf(content, { tokens, nowMs })
    const rest = Object.entries(map.data).filter(([name]) => !name.startsWith(signaturePrefix))
    const data = { ...Object.fromEntries(rest), ...wanted }
    if (isSame(map.data, data)) return
    try {
      await context.client(clusterInfoMaps).update({ ...map, data }, signal)
    } catch (error) {
      // A faster writer changed the object, which triggers another look.
      if (!isStatusError(error, 'Conflict') && !isStatusError(error, 'NotFound')) throw error
    }
  },
}

/** Returns the signatures of cluster-info by all tokens that may sign now. */
function signaturesOf(
  content: string,
  { tokens, nowMs }: { tokens: readonly Secret[]; nowMs: number },
): Record<string, string> {
  const signatures: Record<string, string> = {}
  for (const token of tokens) {
    const id = textOf(token, 'token-id')
    const secret = textOf(token, 'token-secret')
    if (!id || !secret || token.metadata.name !== bootstrapSecretName(id)) continue
    if (textOf(token, 'usage-bootstrap-signing') !== 'true') continue
    if ((expiryMs(token) ?? Infinity) <= nowMs) continue
    signatures[`${signaturePrefix}${id}`] = detachedSignature(content, { id, secret })
  }
  return signatures
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}
