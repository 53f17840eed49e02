import { bootstrapNamespace, bootstrapSecretName, type Secret } from '@skerry/api'
import { ExpectedError, exitCodes, type Clock } from '@skerry/base'
import { etcdPkiPaths, readFileIfPresent } from '@skerry/bootstrap'
import { resources, type ClusterClient } from '@skerry/client'
import { createJoinToken, type JoinToken } from '../../admin/join-token.ts'
import { replicaKeyPath } from '../../control-plane/shared-keys.ts'
import { readSiteInfo } from '../../admin/site-info.ts'
import { etcdFiles } from './embedded-options.ts'
import {
  keysField,
  keysSecretName,
  masterTokenText,
  mastersGroup,
  newMasterKey,
  sealKeys,
  type MasterKeys,
} from './join-keys.ts'
import { readMemberRecord } from './member-record.ts'

export interface MasterTokenOptions {
  readonly dataDir: string
  readonly server: string
  readonly caPem: string
  readonly ttlSeconds: number
  /** For a member that only votes: the token does not hold the key that opens what masters have sealed. */
  readonly isWitness?: boolean | undefined
}

/**
 * Makes a token with which a further master or a witness joins: a bootstrap token, and a Secret with the keys that all masters
 * share. The key that opens the Secret is in the token's text only, so that reading Secrets is not enough.
 */
export async function createMasterToken(
  cluster: ClusterClient,
  { dataDir, isWitness = false, ...options }: MasterTokenOptions,
  deps: { readonly clock: Clock },
  signal: AbortSignal,
): Promise<JoinToken> {
  // Nothing is made if there is nothing to give.
  const { replicaKey, ...shared } = await keysOf(cluster, dataDir, signal)
  const keys = isWitness ? shared : { replicaKey, ...shared }
  const description = `made by skerry token create --${isWitness ? 'witness' : 'master'}`
  const groups = [mastersGroup]
  const made = await createJoinToken(cluster, { ...options, description, groups }, deps, signal)
  const token = { bootstrap: made.token, key: newMasterKey() }
  const [id = ''] = made.token.split('.')
  const secrets = cluster.resource(resources.secrets)
  const key = { namespace: bootstrapNamespace, name: bootstrapSecretName(id) }
  const owner = await secrets.get(key, signal)
  await secrets.create(sealedSecret(id, owner, sealKeys(keys, token)), signal)
  return { ...made, token: masterTokenText(token) }
}

/** Goes with its token, whose Secret the token cleaner deletes. */
function sealedSecret(id: string, owner: Secret, sealed: Buffer): Secret {
  const { name = '', uid = '' } = owner.metadata
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: keysSecretName(id),
      namespace: bootstrapNamespace,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name, uid }],
    },
    type: 'Opaque',
    data: { [keysField]: sealed.toString('base64') },
  }
}

async function keysOf(
  cluster: ClusterClient,
  dataDir: string,
  signal: AbortSignal,
): Promise<MasterKeys> {
  const files = etcdFiles(dataDir)
  const record = await readMemberRecord(files.record)
  const { certificatePath, keyPath } = etcdPkiPaths(files.pki, 'ca')
  const [replicaKey, certificatePem, privateKeyPem] = await Promise.all(
    [replicaKeyPath(dataDir), certificatePath, keyPath].map((path) => readFileIfPresent(path)),
  )
  const info = await readSiteInfo(cluster, signal)
  if (!record || !info || !replicaKey || !certificatePem || !privateKeyPem) {
    throw new ExpectedError(
      `Cannot create a token of masters: ${dataDir} is not that of a master with "skerry site --etcd embedded"; run this on a master's machine`,
      exitCodes.usage,
    )
  }
  return {
    replicaKey,
    etcdAuthority: { certificatePem, privateKeyPem },
    members: [{ name: record.name, clientUrl: record.clientUrl }, ...record.others],
    prefix: record.prefix,
    settings: {
      '--name': info.name,
      '--cluster-cidr': info.podCIDR,
      '--service-cidr': info.serviceCIDR,
      '--cluster-domain': info.dnsDomain,
    },
  }
}
