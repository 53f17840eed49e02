/**
 * The Secret with which the hub logs in to machines, made from what a person types. Its content goes to the hub in the
 * Secret alone: no object, address or store of the browser has it.
 */
import { listPath, objectPath } from './api-paths.ts'
import { toBase64 } from './base64.ts'
import { askHub, askJson } from './hub-request.ts'

/** `secret` names one that is there; the others make one. */
export type LoginKind = 'secret' | 'password' | 'key'

export interface LoginForm {
  readonly kind: LoginKind
  /** The name of a Secret that is there. */
  readonly secret: string
  readonly password: string
  /** The text of a file with a private key. */
  readonly privateKey: string
  readonly passphrase: string
  /** The password for sudo, if it is not that of the user. */
  readonly sudoPassword: string
}

export const emptyLogin: LoginForm = Object.freeze({
  kind: 'secret',
  secret: '',
  password: '',
  privateKey: '',
  passphrase: '',
  sudoPassword: '',
})

/** Reports whether everything is there that a login of this kind needs. */
export function isLoginComplete({ kind, secret, password, privateKey }: LoginForm): boolean {
  if (kind === 'secret') return secret.trim() !== ''
  return kind === 'password' ? password !== '' : privateKey.trim() !== ''
}

/** Returns the content of the Secret in base64; undefined if the login names an existing Secret. */
export function loginData(login: LoginForm): Readonly<Record<string, string>> | undefined {
  const { kind, password, privateKey, passphrase, sudoPassword } = login
  if (kind === 'secret') return undefined
  const fields =
    kind === 'password'
      ? { password }
      : // ssh-keygen refuses a key whose last line does not end.
        { 'ssh-privatekey': `${privateKey.trim()}\n`, passphrase }
  const all = Object.entries({ ...fields, 'sudo-password': sudoPassword })
  return Object.fromEntries(
    all.filter(([, text]) => text !== '').map(([key, text]) => [key, toBase64(text)]),
  )
}

const secrets = { group: '', version: 'v1', resource: 'secrets' }

/** The label by which the hub removes the Secret together with the edge cluster. */
export const loginLabel = 'hub.skerry.io/login-of'

export interface LoginSecret {
  readonly namespace: string
  readonly name: string
  readonly edgeName: string
  readonly data: Readonly<Record<string, string>>
}

function secretOf({ namespace, name, edgeName, data }: LoginSecret): unknown {
  const labels = { 'hub.skerry.io/edge-cluster': edgeName, [loginLabel]: edgeName }
  const metadata = { namespace, name, labels }
  return { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata, data }
}

/**
 * Makes the Secrets before the object that names them is written, and removes them again if that object is refused.
 * Rejects with a HubError.
 */
export async function withLogins(
  wanted: readonly LoginSecret[],
  write: () => Promise<void>,
): Promise<void> {
  const made: LoginSecret[] = []
  try {
    for (const each of wanted) {
      await askJson(listPath(undefined, secrets, each.namespace), {
        method: 'POST',
        body: secretOf(each),
      })
      made.push(each)
    }
    await write()
  } catch (thrown) {
    // The first error is the one that tells what to do.
    await Promise.allSettled(made.map(removeLogin))
    throw thrown
  }
}

export async function removeLogin({
  namespace,
  name,
}: Pick<LoginSecret, 'namespace' | 'name'>): Promise<void> {
  await askHub(objectPath(undefined, { ...secrets, namespace, name }), { method: 'DELETE' })
}
