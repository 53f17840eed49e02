import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isJsonObject, type JsonObject } from '@skerry/api'
import { ExpectedError, exitCodes, systemClock } from '@skerry/base'
import { readFileIfPresent } from '@skerry/bootstrap'
import { fixedCredentials, tokenFileCredentials, type CredentialSource } from '@skerry/client'
import { readText } from '../../runtime/read-config-file.ts'
import { getFromHub } from './ask-hub.ts'
import { execEntry } from './exec-entry.ts'
import { mergeKubeconfig } from './merge-kubeconfig.ts'
import { reachableClustersPath, type ReachableClusters } from '@skerry/gateway'

export interface HubKubeconfigOptions {
  /** The hub's URL, https://host:port. */
  hub: string
  caFile: string | undefined
  tokenFile: string | undefined
  clientCertificate: string | undefined
  clientKey: string | undefined
  /** The command that starts this program, for a certificate that renews itself. */
  renewBy?: readonly string[] | undefined
  /** The login, used if none of those files is named. */
  login?: KubeconfigLogin | undefined
  /** The file to merge into. If omitted, the result is only the new kubeconfig. */
  outputFile: string | undefined
  /** Whether clusters are named by host, if the hub has names for them, instead of by path. */
  hostNames: boolean | undefined
  /** A prefix for each name, for files with equal names. */
  prefix: string
}

/** The credentials of a program that a client starts when it needs them. */
export interface KubeconfigLogin {
  /** A user's `exec` in a kubeconfig. */
  readonly exec: JsonObject
  readonly credentials: CredentialSource
}

/**
 * Returns a kubeconfig with a context for the hub and for each cluster that its user may reach now.
 * Credentials stay in their files, whose paths it names: kubectl reads them again when they change. Throws
 * ExpectedError.
 */
async function hubKubeconfig(
  options: HubKubeconfigOptions,
  signal: AbortSignal,
): Promise<JsonObject> {
  checkCredentials(options)
  const { hub, outputFile, prefix } = options
  const ca = options.caFile === undefined ? undefined : await readText(options.caFile)
  const found = await askHub(options, ca, signal)
  const trust: JsonObject =
    ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }
  const contexts = [
    { name: `${prefix}hub`, cluster: { server: new URL(hub).origin, ...trust } },
    ...found.clusters.map(({ name }) => ({
      name: `${prefix}${name}`,
      cluster: { server: serverOf(options, name, found.clusterDomain), ...trust },
    })),
  ]
  const own = { user: `${prefix}hub-user`, credentials: credentialFields(options), contexts }
  const path = outputFile ?? 'on standard output'
  return mergeKubeconfig(await readExisting(outputFile), own, path)
}

/** Refuses two kinds of credentials, because one would have no effect. */
function checkCredentials(options: HubKubeconfigOptions): void {
  const { tokenFile, clientCertificate, clientKey, renewBy } = options
  const pair = clientCertificate ?? clientKey
  const text =
    tokenFile !== undefined && (pair ?? renewBy) !== undefined
      ? '--token-file excludes --client-certificate, --client-key and --renew; pass one of both'
      : renewBy !== undefined && pair === undefined
        ? '--renew is for --client-certificate and --client-key; pass both, or leave it out'
        : undefined
  if (text !== undefined) {
    throw new ExpectedError(`Cannot write kubeconfig: ${text}`, exitCodes.usage)
  }
}

/** Replaces the file at once, readable by its owner alone. */
export async function writeHubKubeconfig(
  options: HubKubeconfigOptions & { outputFile: string },
  signal: AbortSignal,
): Promise<JsonObject> {
  const config = await hubKubeconfig(options, signal)
  const { stringify } = await loadYaml()
  await mkdir(dirname(resolve(options.outputFile)), { recursive: true, mode: 0o700 })
  const next = `${options.outputFile}.new`
  await writeFile(next, stringify(config, { lineWidth: 0 }), { mode: 0o600 })
  await rename(next, options.outputFile)
  return config
}

export async function printHubKubeconfig(
  options: HubKubeconfigOptions,
  signal: AbortSignal,
): Promise<void> {
  const { stringify } = await loadYaml()
  process.stdout.write(stringify(await hubKubeconfig(options, signal), { lineWidth: 0 }))
}

function serverOf(
  { hub, hostNames }: HubKubeconfigOptions,
  cluster: string,
  clusterDomain: string | undefined,
): string {
  const { origin, port } = new URL(hub)
  if (hostNames !== true) return `${origin}/clusters/${cluster}`
  if (clusterDomain === undefined) {
    throw new ExpectedError(
      'Cannot write kubeconfig: this hub has no names for clusters; omit --host-names, or start it with --cluster-domain',
      exitCodes.usage,
    )
  }
  return `https://${cluster}.${clusterDomain}${port === '' ? '' : `:${port}`}`
}

function credentialFields(options: HubKubeconfigOptions): JsonObject {
  const { tokenFile, clientCertificate, clientKey } = options
  if (tokenFile !== undefined) return { tokenFile: resolve(tokenFile) }
  const login = loginOf(options)
  if (login) return { exec: login.exec }
  const { certificate, key } = requireKeyPair(clientCertificate, clientKey)
  const { hub, caFile, renewBy } = options
  if (renewBy) {
    const files = ['--certificate', resolve(certificate), '--key', resolve(key)]
    const trust = caFile === undefined ? [] : ['--ca-file', resolve(caFile)]
    const words = ['credential', 'certificate', '--hub', new URL(hub).origin, ...trust, ...files]
    return { exec: execEntry(renewBy, words) }
  }
  return { 'client-certificate': resolve(certificate), 'client-key': resolve(key) }
}

/** A named file takes precedence over the login. */
function loginOf(options: HubKubeconfigOptions): KubeconfigLogin | undefined {
  const { tokenFile, clientCertificate, clientKey, login } = options
  return (tokenFile ?? clientCertificate ?? clientKey) === undefined ? login : undefined
}

function requireKeyPair(certificate: string | undefined, key: string | undefined) {
  if (certificate !== undefined && key !== undefined) return { certificate, key }
  throw new ExpectedError(
    'Cannot write kubeconfig: pass --token-file, or --client-certificate and --client-key, or log in by "skerry login"',
    exitCodes.usage,
  )
}

async function credentialsOf(options: HubKubeconfigOptions): Promise<CredentialSource> {
  const { tokenFile, clientCertificate, clientKey } = options
  if (tokenFile !== undefined) {
    await readText(tokenFile)
    return tokenFileCredentials(tokenFile, systemClock)
  }
  const login = loginOf(options)
  if (login) return login.credentials
  const { certificate, key } = requireKeyPair(clientCertificate, clientKey)
  return fixedCredentials({ certificate: await readText(certificate), key: await readText(key) })
}

async function askHub(
  options: HubKubeconfigOptions,
  ca: string | undefined,
  signal: AbortSignal,
): Promise<ReachableClusters> {
  const { hub } = options
  const asker = { hub, ca, credentials: await credentialsOf(options) }
  const { status, text } = await getFromHub(asker, reachableClustersPath, signal)
  if (status === 200) return parseAnswer(text, hub)
  const who = status === 401 || status === 403 ? ': it does not know these credentials' : ''
  throw new ExpectedError(`Cannot ask hub ${hub}: it answers ${status}${who}`, exitCodes.failure)
}

function parseAnswer(text: string, hub: string): ReachableClusters {
  const value: unknown = JSON.parse(text)
  const clusters = isJsonObject(value) ? value['clusters'] : undefined
  const isList =
    Array.isArray(clusters) &&
    clusters.every((each) => isJsonObject(each) && /^[a-z0-9-]+$/.test(String(each['name'])))
  // Names become part of addresses, so an invalid one ends here.
  if (isList) return value as ReachableClusters
  throw new ExpectedError(
    `Cannot ask hub ${hub}: its answer is not a list of clusters`,
    exitCodes.failure,
  )
}

async function readExisting(path: string | undefined): Promise<unknown> {
  const text = path === undefined ? undefined : await readFileIfPresent(path)
  if (text === undefined) return undefined
  const { parse } = await loadYaml()
  try {
    return parse(text)
  } catch (error) {
    const why = `Cannot write kubeconfig ${path}: the existing file is not YAML; name another --output-file`
    throw new ExpectedError(why, exitCodes.usage, { cause: error })
  }
}

/** Loads YAML, a CommonJS package: the program's bundle has only its default export. */
async function loadYaml() {
  const { default: yaml } = await import('yaml')
  return yaml
}
