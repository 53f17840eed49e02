import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ExpectedError, exitCodes, type Clock } from '@skerry/base'
import { parse } from 'yaml'
import * as z from 'zod/mini'
import { fixedCredentials, tokenFileCredentials, type CredentialSource } from './credentials.ts'
import { execCredentials, type ExecPlugin } from './exec-credentials.ts'
import type { HttpsTransportConfig } from './https-transport.ts'

const namedCluster = z.object({
  // Go's clients omit an empty one, as Karmada's cluster-info does.
  name: z._default(z.string(), ''),
  cluster: z.object({
    server: z.string(),
    'certificate-authority': z.optional(z.string()),
    'certificate-authority-data': z.optional(z.string()),
    'insecure-skip-tls-verify': z.optional(z.boolean()),
    'tls-server-name': z.optional(z.string()),
    'proxy-url': z.optional(z.string()),
  }),
})

const execPlugin = z.object({
  apiVersion: z.string(),
  command: z.string(),
  args: z.nullish(z.array(z.string())),
  env: z.nullish(z.array(z.object({ name: z.string(), value: z.string() }))),
  installHint: z.optional(z.string()),
})

const namedUser = z.object({
  name: z.string(),
  user: z.nullish(
    z.object({
      'client-certificate': z.optional(z.string()),
      'client-certificate-data': z.optional(z.string()),
      'client-key': z.optional(z.string()),
      'client-key-data': z.optional(z.string()),
      token: z.optional(z.string()),
      tokenFile: z.optional(z.string()),
      as: z.optional(z.string()),
      'as-groups': z.optional(z.array(z.string())),
      exec: z.optional(execPlugin),
    }),
  ),
})

const namedContext = z.object({
  name: z.string(),
  context: z.object({
    cluster: z.string(),
    user: z.optional(z.string()),
    namespace: z.optional(z.string()),
  }),
})

const kubeconfigSchema = z.object({
  apiVersion: z._default(z.literal('v1'), 'v1'),
  kind: z._default(z.literal('Config'), 'Config'),
  clusters: z.nullish(z.array(namedCluster)),
  users: z.nullish(z.array(namedUser)),
  contexts: z.nullish(z.array(namedContext)),
  'current-context': z.optional(z.string()),
})

/** clientcmd v1.Config, with its own field names; unknown fields are dropped. */
export type Kubeconfig = z.infer<typeof kubeconfigSchema>

export interface KubeconfigDeps {
  clock: Clock
  /** The environment that exec plugins inherit. */
  environment: Readonly<Record<string, string | undefined>>
}

export interface KubeconfigTarget {
  transport: HttpsTransportConfig
  /** The context's namespace, or "default". */
  namespace: string
}

/** Parses one file's text. Its ExpectedError names `source` and the error. */
export function parseKubeconfig(text: string, source: string): Kubeconfig {
  let document: unknown
  try {
    document = parse(text)
  } catch (error) {
    throw unusable(source, 'it is not YAML', error)
  }
  const parsed = kubeconfigSchema.safeParse(document)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const where = issue?.path.length ? `${issue.path.join('.')}: ` : ''
  throw unusable(source, `${where}${issue?.message ?? 'it is not a kubeconfig'}`, parsed.error)
}

/** Reads the file and resolves one of its contexts. Relative paths in it start at its directory. */
export async function loadKubeconfig(
  path: string,
  options: { context?: string },
  deps: KubeconfigDeps,
): Promise<KubeconfigTarget> {
  const config = parseKubeconfig(await readFile(path, 'utf8'), path)
  const wanted = options.context ?? config['current-context'] ?? ''
  const context = config.contexts?.find(({ name }) => name === wanted)?.context
  if (!context) throw unusable(path, `it has no context "${wanted}"`)
  const cluster = config.clusters?.find(({ name }) => name === context.cluster)?.cluster
  if (!cluster) throw unusable(path, `it has no cluster "${context.cluster}"`)
  const user = config.users?.find(({ name }) => name === context.user)?.user
  if (context.user && user === undefined) throw unusable(path, `it has no user "${context.user}"`)
  const inFile = (file: string): string => resolve(dirname(path), file)
  const certificateAuthority = await pem(
    cluster['certificate-authority-data'],
    cluster['certificate-authority'],
    inFile,
  )
  return {
    namespace: context.namespace ?? 'default',
    transport: {
      server: cluster.server,
      ...(certificateAuthority ? { certificateAuthority } : {}),
      ...(cluster['tls-server-name'] ? { serverName: cluster['tls-server-name'] } : {}),
      ...(cluster['insecure-skip-tls-verify'] ? { isTlsVerifySkipped: true } : {}),
      ...(cluster['proxy-url'] ? { proxyUrl: cluster['proxy-url'] } : {}),
      credentials: await credentialsOf(user ?? {}, inFile, deps),
      headers: impersonation(user ?? {}),
    },
  }
}

type User = NonNullable<z.infer<typeof namedUser>['user']>

/** Uses the first of: exec plugin, token file, token. A certificate is added to any of them. */
async function credentialsOf(
  user: User,
  inFile: (file: string) => string,
  deps: KubeconfigDeps,
): Promise<CredentialSource> {
  const certificate = await pem(user['client-certificate-data'], user['client-certificate'], inFile)
  const key = await pem(user['client-key-data'], user['client-key'], inFile)
  const fixed = {
    ...(certificate && key ? { certificate, key } : {}),
    ...(user.token ? { bearerToken: user.token } : {}),
  }
  if (user.exec) return withFixed(fixed, execCredentials(execPluginOf(user.exec, inFile), deps))
  if (user.tokenFile && !user.token) {
    return withFixed(fixed, tokenFileCredentials(inFile(user.tokenFile), deps.clock))
  }
  return fixedCredentials(fixed)
}

function withFixed(
  fixed: Awaited<ReturnType<CredentialSource>>,
  source: CredentialSource,
): CredentialSource {
  const { onRefused } = source
  const merged = async (signal: AbortSignal) => ({ ...fixed, ...(await source(signal)) })
  return Object.assign(merged, onRefused ? { onRefused } : {})
}

/** A command with a slash is a file, relative to the kubeconfig; one without a slash is looked up in PATH. */
function execPluginOf(
  exec: z.infer<typeof execPlugin>,
  inFile: (file: string) => string,
): ExecPlugin {
  const { args, env, installHint, apiVersion, command } = exec
  return {
    apiVersion,
    command: command.includes('/') ? inFile(command) : command,
    ...(args ? { args } : {}),
    ...(env ? { env } : {}),
    ...(installHint ? { installHint } : {}),
  }
}

function impersonation(user: User): Record<string, string | readonly string[]> {
  return {
    ...(user.as ? { 'impersonate-user': user.as } : {}),
    ...(user['as-groups']?.length ? { 'impersonate-group': user['as-groups'] } : {}),
  }
}

async function pem(
  base64: string | undefined,
  file: string | undefined,
  inFile: (file: string) => string,
): Promise<string | undefined> {
  if (base64) return Buffer.from(base64, 'base64').toString('utf8')
  return file ? readFile(inFile(file), 'utf8') : undefined
}

function unusable(source: string, problem: string, cause?: unknown): ExpectedError {
  return new ExpectedError(`Cannot use kubeconfig ${source}: ${problem}`, exitCodes.usage, {
    cause,
  })
}
