import { isStatusError, type Secret, type ServiceAccount } from '@skerry/api'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import {
  selected,
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { controllerBounds } from '../limits-table.ts'

const secretType = 'kubernetes.io/service-account-token'
const tokenSecrets = selected(resources.secrets, { fieldSelector: `type=${secretType}` })
const accountName = 'kubernetes.io/service-account.name'
const accountUid = 'kubernetes.io/service-account.uid'

const { lifetimeSeconds } = controllerBounds.serviceAccountTokenController

/** Fills secrets of type service-account-token: token, authority and namespace. */
export function serviceAccountTokenController(caBundlePem: string): ControllerDefinition {
  return {
    name: 'serviceaccount-token-controller',
    watches: [
      watch(tokenSecrets, {
        keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
      }),
      watch(resources.serviceAccounts, { keysOf: ({ object }, each) => secretsOf(object, each) }),
    ],
    reconcile: (key, context, signal) => reconcile({ key, caBundlePem }, context, signal),
  }
}

function secretsOf({ metadata }: ServiceAccount, context: ControllerContext): string[] {
  return context
    .informer(tokenSecrets)
    .list(metadata.namespace)
    .filter((each) => each.metadata.annotations?.[accountName] === metadata.name)
    .map(keyOfObject)
}

async function reconcile(
  { key, caBundlePem }: { key: string; caBundlePem: string },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const secret = context.informer(tokenSecrets).get(parseKey(key))
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return
  const account = accountOf(secret, context)
  const client = context.client(tokenSecrets)
  if (account === undefined) {
    // The cache may be behind a new account, so the server is asked before the secret is deleted.
    if (await exists(secret, context, signal)) return
    await ignoreNotFound(client.delete({ ...parseKey(key) }, signal))
    return
  }
  const { namespace = '', uid = '' } = account.metadata
  const wanted = { 'ca.crt': base64(caBundlePem), namespace: base64(namespace) }
  const isFilled =
    secret.data?.['token'] !== undefined &&
    secret.data['ca.crt'] === wanted['ca.crt'] &&
    secret.data['namespace'] === wanted.namespace &&
    secret.metadata.annotations?.[accountUid] === uid
  if (isFilled) return
  const token = secret.data?.['token'] ?? (await issue({ account, secret }, context, signal))
  const annotations = { ...secret.metadata.annotations, [accountUid]: uid }
  const metadata = { ...secret.metadata, annotations }
  await client.update({ ...secret, metadata, data: { ...secret.data, ...wanted, token } }, signal)
}

/** Returns undefined if there is no account of this name, or another one than the secret was made for. */
function accountOf(secret: Secret, context: ControllerContext): ServiceAccount | undefined {
  const { namespace, annotations = {} } = secret.metadata
  const name = annotations[accountName] ?? ''
  const account = context.informer(resources.serviceAccounts).get({ namespace, name })
  const uid = annotations[accountUid]
  return uid === undefined || uid === '' || account?.metadata.uid === uid ? account : undefined
}

async function exists(
  { metadata }: Secret,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace, annotations = {} } = metadata
  try {
    const accounts = context.cluster.resource(resources.serviceAccounts)
    const live = await accounts.get({ namespace, name: annotations[accountName] ?? '' }, signal)
    const uid = annotations[accountUid] ?? ''
    return uid === '' || live.metadata.uid === uid
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return false
    throw error
  }
}

async function issue(
  { account, secret }: { account: ServiceAccount; secret: Secret },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<string> {
  const { namespace, name = '' } = account.metadata
  const { name: secretName, uid } = secret.metadata
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      expirationSeconds: lifetimeSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: secretName, uid },
    },
  }
  const answer = await context.cluster
    .resource(resources.serviceAccounts)
    .createSubresource({ namespace, name, subresource: 'token', body }, signal)
  const { status } = answer
  const token =
    typeof status === 'object' && status !== null ? Reflect.get(status, 'token') : undefined
  if (typeof token !== 'string') throw new Error('Cannot fill secret: the server gave no token')
  return base64(token)
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
