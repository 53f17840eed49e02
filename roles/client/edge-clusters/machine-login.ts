import { readFile } from 'node:fs/promises'
import { isStatusError } from '@skerry/api'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { ifThere, resources, type ClusterClient } from '@skerry/client'
import { loginKeys, loginSecretLabel } from '@skerry/provisioning'

/** How a hub logs in to machines: a Secret that is there, or files of which the command makes one. */
export interface LoginFlags {
  credentials: string | undefined
  passwordFile: string | undefined
  privateKeyFile: string | undefined
  passphraseFile: string | undefined
  sudoPasswordFile: string | undefined
}

/** The content of a Secret, in base64. */
export type LoginData = Readonly<Record<string, string>>

/** Reads the files. Resolves undefined if a Secret is named instead or nothing is given. Throws an ExpectedError. */
export async function readLogin(flags: LoginFlags): Promise<LoginData | undefined> {
  const given = [
    ['--password-file', loginKeys.password, flags.passwordFile],
    ['--private-key-file', loginKeys.privateKey, flags.privateKeyFile],
    ['--passphrase-file', loginKeys.passphrase, flags.passphraseFile],
    ['--sudo-password-file', loginKeys.sudoPassword, flags.sudoPasswordFile],
  ] as const
  const files = given.flatMap(([option, key, path]) =>
    path === undefined ? [] : [{ option, key, path }],
  )
  const [first] = files
  if (first === undefined) return undefined
  if (flags.credentials !== undefined) {
    throw usage(`${first.option} makes a Secret, and --credentials names one: give one of the two`)
  }
  if (flags.passwordFile === undefined && flags.privateKeyFile === undefined) {
    throw usage(`${first.option} needs --password-file or --private-key-file`)
  }
  if (flags.passphraseFile !== undefined && flags.privateKeyFile === undefined) {
    throw usage('--passphrase-file needs --private-key-file')
  }
  const read = files.map(async ({ option, key, path }) => [key, await readBase64(option, path)])
  return Object.fromEntries(await Promise.all(read))
}

async function readBase64(option: string, path: string): Promise<string> {
  const content = await readFile(path).catch((cause: unknown) => {
    throw usage(`${option} ${path} cannot be read: ${messageOf(cause)}`, { cause })
  })
  if (content.toString('utf8').trim() === '') throw usage(`${option} ${path} is empty`)
  return content.toString('base64')
}

/** Throws an ExpectedError if a Secret does not exist. A user who may not read Secrets is not held up. */
export async function checkSecret(
  hub: ClusterClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<void> {
  try {
    const found = await ifThere(hub.resource(resources.secrets).get({ namespace, name }, signal))
    if (found !== undefined) return
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error
    return
  }
  throw usage(
    `there is no Secret ${name} in namespace ${namespace}: create it with password or ssh-privatekey, or give --password-file or --private-key-file`,
  )
}

/** Returns those Secrets that the hub does not remove with this edge cluster: people have made them. */
export async function secretsThatStay(
  hub: ClusterClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<(secret: string) => boolean> {
  const labelSelector = `${loginSecretLabel}=${name}`
  try {
    const { items } = await hub
      .resource(resources.secrets)
      .list({ namespace, labelSelector }, signal)
    const made = new Set(items.map(({ metadata }) => metadata.name))
    return (secret) => !made.has(secret)
  } catch (error) {
    // Without the right on Secrets, the user sees all of them as Secrets that stay.
    if (!isStatusError(error, 'Forbidden')) throw error
    return () => true
  }
}

export interface SecretRequest {
  readonly namespace: string
  /** The name, or the beginning of one that the hub completes. */
  readonly name?: string
  readonly generateName?: string
  readonly edgeName: string
  readonly data: LoginData
}

/** Makes the Secret of a login, and resolves with its name. Throws an ExpectedError if the name is taken. */
export async function createLoginSecret(
  hub: ClusterClient,
  { namespace, name, generateName, edgeName, data }: SecretRequest,
  signal: AbortSignal,
): Promise<string> {
  const metadata = {
    namespace,
    ...(name === undefined ? {} : { name }),
    ...(generateName === undefined ? {} : { generateName }),
    labels: { 'hub.skerry.io/edge-cluster': edgeName, [loginSecretLabel]: edgeName },
  }
  const secret = { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata, data: { ...data } }
  try {
    const made = await hub.resource(resources.secrets).create(secret, signal)
    return made.metadata.name ?? ''
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
    const text = `Secret ${name} exists in namespace ${namespace}: give --credentials ${name} to use it, or delete it first`
    throw usage(text, { cause: error })
  }
}

function usage(why: string, options?: ErrorOptions): ExpectedError {
  return new ExpectedError(`Cannot use the login: ${why}`, exitCodes.usage, options)
}
