import { randomInt } from 'node:crypto'
import type { Secret } from '@skerry/api'

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'

export interface NewTokenOptions {
  /** Seconds from now; 0: never expires. */
  readonly ttlSeconds: number
  readonly nowMs: number
  readonly description: string
  /** system:bootstrappers:…; what the token's user may do. */
  readonly groups: readonly string[]
}

/** A bootstrap token (`id.secret`) and the Secret in kube-system that makes it valid. */
export function createBootstrapToken(options: NewTokenOptions): { token: string; secret: Secret } {
  const id = randomText(6)
  const key = randomText(16)
  const expiration = new Date(options.nowMs + options.ttlSeconds * 1_000)
    .toISOString()
    .replace(/\.\d+Z/, 'Z')
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': key,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      description: options.description,
      'auth-extra-groups': options.groups.join(','),
      ...(options.ttlSeconds === 0 ? {} : { expiration }),
    },
  }
  return { token: `${id}.${key}`, secret }
}

/** The group whose members may ask for node certificates (kubeadm's name, so that its policy applies). */
export const nodeTokenGroup = 'system:bootstrappers:kubeadm:default-node-token'

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}
