import { bootstrapNamespace, parseBootstrapToken } from '@skerry/api'
import { ExpectedError, exitCodes, messageOf, withTimeout } from '@skerry/base'
import {
  discoverCluster,
  etcdPkiPaths,
  readFileIfPresent,
  secretMode,
  writeCertificateAndKey,
  writeFileDurably,
} from '@skerry/bootstrap'
import { createCluster, createHttpsTransport, fixedCredentials, resources } from '@skerry/client'
import { spkiHash } from '@skerry/pki'
import { replicaKeyPath } from '../../control-plane/shared-keys.ts'
import type { RoleContext } from '../../runtime/role-context.ts'
import { version } from '../../runtime/version.ts'
import type { CommonSettings } from '../masters/master-directory.ts'
import type { EtcdFiles, JoiningOptions } from './embedded-options.ts'
import {
  keysField,
  keysSecretName,
  openKeys,
  parseMasterToken,
  type MasterKeys,
  type MasterToken,
} from './join-keys.ts'
import { siteBounds } from '../limits-table.ts'

/**
 * Fetches the keys that masters share from one that serves, and writes them where this master's start expects them.
 * The server proves that it knows the token before anything is trusted. Throws ExpectedError.
 */
export async function fetchMasterKeys(
  joining: JoiningOptions,
  { dataDir, files, settings, isWitness = false }: KeysPlace,
  context: RoleContext,
): Promise<MasterKeys> {
  const token = await readToken(joining)
  const keys = await askForKeys(joining, token, context)
  if (!isWitness && keys.replicaKey === undefined) {
    throw refusal(
      joining,
      'the token is one for a witness; make one with "skerry token create --master"',
    )
  }
  for (const [option, theirs] of Object.entries(keys.settings)) {
    const own = settings[option]
    if (own === undefined || own === theirs) continue
    throw refusal(
      joining,
      `its ${option} is ${theirs}, and ${own} was given; all masters need the same`,
    )
  }
  const paths = etcdPkiPaths(files.pki, 'ca')
  await refuseOtherAuthority(joining, paths.certificatePath, keys)
  await writeCertificateAndKey(paths, keys.etcdAuthority)
  if (!isWitness && keys.replicaKey !== undefined) {
    await writeFileDurably(replicaKeyPath(dataDir), keys.replicaKey, secretMode)
  }
  return keys
}

interface KeysPlace {
  readonly dataDir: string
  readonly files: EtcdFiles
  readonly settings: CommonSettings
  /** A witness keeps nothing but what etcd itself needs. */
  readonly isWitness?: boolean | undefined
}

async function askForKeys(
  joining: JoiningOptions,
  token: MasterToken,
  context: RoleContext,
): Promise<MasterKeys> {
  const { server, caHash } = joining
  const bootstrap = parseBootstrapToken(token.bootstrap)
  if (caHash === undefined || bootstrap === undefined) {
    throw refusal(joining, 'pass --ca-hash as "skerry token create --master" printed it')
  }
  const limit = {
    clock: context.clock,
    ms: siteBounds.etcd.joining.discoverMs,
    message: `no answer in ${siteBounds.etcd.joining.discoverMs} ms`,
  }
  const tokenCommand = 'skerry token create --master --print-join-command'
  const asked = { server, token: bootstrap, authorityHashes: [caHash], tokenCommand }
  const sealed = await withTimeout(limit, context.signal, async (scope) => {
    const { authorityPem } = await discoverCluster(asked, context, scope)
    return readSealed({ joining, token, authorityPem }, context, scope)
  })
  const keys = openKeys(sealed, token)
  if (keys) return keys
  throw refusal(joining, 'the token does not open its keys; create another one')
}

async function readSealed(
  {
    joining,
    token,
    authorityPem,
  }: { joining: JoiningOptions; token: MasterToken; authorityPem: string },
  { clock, log }: RoleContext,
  signal: AbortSignal,
): Promise<Buffer> {
  using transport = createHttpsTransport(
    {
      server: joining.server,
      certificateAuthority: authorityPem,
      credentials: fixedCredentials({ bearerToken: token.bootstrap }),
    },
    { clock },
  )
  const cluster = createCluster(transport, { log, clock, userAgent: `skerry-site/${version}` })
  const [id = ''] = token.bootstrap.split('.')
  const key = { namespace: bootstrapNamespace, name: keysSecretName(id) }
  try {
    const secret = await cluster.resource(resources.secrets).get(key, signal)
    return Buffer.from(secret.data?.[keysField] ?? '', 'base64')
  } catch (error) {
    const why = `its keys cannot be read with this token: ${messageOf(error)}`
    throw refusal(joining, why, error)
  }
}

async function readToken({ readToken: read }: JoiningOptions): Promise<MasterToken> {
  const token = parseMasterToken(await read())
  if (token) return token
  throw new ExpectedError(
    'Cannot join: the token is not one of "skerry token create --master"',
    exitCodes.usage,
  )
}

/** A data directory that was another etcd's would lose its authority. */
async function refuseOtherAuthority(
  joining: JoiningOptions,
  path: string,
  { etcdAuthority }: MasterKeys,
): Promise<void> {
  const own = await readFileIfPresent(path)
  if (own === undefined || spkiHash(own) === spkiHash(etcdAuthority.certificatePem)) return
  throw refusal(joining, `${path} is of another etcd; pass an empty --data-dir`)
}

function refusal({ server }: JoiningOptions, why: string, cause?: unknown): ExpectedError {
  return new ExpectedError(`Cannot join ${server}: ${why}`, exitCodes.usage, { cause })
}
