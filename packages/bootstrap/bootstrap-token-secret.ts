import {
  bootstrapNamespace,
  bootstrapSecretName,
  bootstrapSecretType,
  type BootstrapToken,
  type Secret,
} from '@skerry/api'
import type { Random } from '@skerry/base'

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'
/** The largest multiple of the alphabet's size in a byte; bytes above it would favour some letters. */
const fairBelow = 256 - (256 % alphabet.length)

/** The group whose members may request node certificates, which are approved automatically. */
export const nodeTokenGroup = 'system:bootstrappers:kubeadm:default-node-token'

/** Creates a new token. Its secret has 82 bits. */
export function newBootstrapToken(random: Random): BootstrapToken {
  return { id: randomText(6, random), secret: randomText(16, random) }
}

export function bootstrapTokenText({ id, secret }: BootstrapToken): string {
  return `${id}.${secret}`
}

export interface BootstrapTokenOptions {
  readonly token: BootstrapToken
  /** The expiry. If omitted, the token never expires. */
  readonly expiresAtMs?: number
  readonly description?: string
  readonly groups?: readonly string[]
}

/** Builds the Secret in which the API server finds the token, valid for authentication and signing. */
export function bootstrapTokenSecret(options: BootstrapTokenOptions): Secret {
  const { token, expiresAtMs, description, groups = [nodeTokenGroup] } = options
  const fields = {
    'token-id': token.id,
    'token-secret': token.secret,
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'true',
    'auth-extra-groups': groups.join(','),
    ...(expiresAtMs === undefined ? {} : { expiration: new Date(expiresAtMs).toISOString() }),
    ...(description === undefined ? {} : { description }),
  }
  const data = Object.entries(fields).map(([key, value]) => [
    key,
    Buffer.from(value).toString('base64'),
  ])
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: bootstrapSecretName(token.id), namespace: bootstrapNamespace },
    type: bootstrapSecretType,
    data: Object.fromEntries(data),
  }
}

function randomText(length: number, random: Random): string {
  let text = ''
  while (text.length < length) {
    for (const byte of random.bytes(length)) {
      if (byte < fairBelow && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}
