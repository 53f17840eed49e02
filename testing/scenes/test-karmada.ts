/** A Karmada in this process for agents that register, for tests: its API server, its rights, its signer. */
import {
  bootstrapNamespace,
  bootstrapSecretName,
  type AnyObject,
  type CertificateSigningRequest,
  type Secret,
} from '@skerry/api'
import { builtinKinds } from '@skerry/kinds'
import { linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, keyOfObject, parseKey, resources, type ClusterClient } from '@skerry/client'
import { watch, type ControllerDefinition } from '@skerry/controller-runtime'
import { csrSigningController, runControllers } from '@skerry/controllers'
import { clusterKind } from '@skerry/fleet-kinds'
import { karmadaKinds } from '@skerry/karmada-kinds'
import { readSigningRequest } from '@skerry/pki'
import { startTestApiServer } from '../test-api-server.ts'

export interface TestKarmada extends AsyncDisposable {
  readonly url: string
  readonly caPem: string
  /** Karmada's API as its administrator, in-process. */
  readonly admin: ClusterClient
  /** Creates a token as `karmadactl token create` does; the id has six characters. */
  createToken(id: string): Promise<string>
  deleteToken(id: string): Promise<void>
}

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const tokensGroup = 'system:bootstrappers:karmada:default-cluster-token'
const generator = 'system:karmada:agent:rbac-generator'
const soon = (): AbortSignal => AbortSignal.timeout(120_000)

export async function startTestKarmada(): Promise<TestKarmada> {
  await using stack = new AsyncDisposableStack()
  const kinds = await builtinKinds()
  const server = stack.use(
    await startTestApiServer({
      withAccess: true,
      kinds: [...kinds, clusterKind(kinds), ...(await karmadaKinds(kinds))],
      namespaces: ['default', 'kube-system', 'karmada-cluster'],
    }),
  )
  const admin = createCluster(server.transport, deps)
  await admin.resource(resources.clusterRoleBindings).create(binding(writers), soon())
  await admin.resource(resources.clusterRoleBindings).create(binding(askers), soon())
  const stop = linkedSignal(new AbortController().signal)
  const { authority } = server
  const signing = { clientAuthority: authority, servingAuthority: authority }
  const controllers = [csrSigningController({ ...signing, durationSecondsMax: 86_400 }), approver]
  const running = runControllers(controllers, { ...deps, cluster: admin }, stop.signal)
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const secrets = admin.resource(resources.secrets)
  const owned = stack.move()
  return {
    url: server.url,
    caPem: server.credentials.ca,
    admin,
    async createToken(id) {
      await secrets.create(tokenSecret(id), soon())
      return `${id}.${tokenSecretText}`
    },
    async deleteToken(id) {
      await secrets.delete({ namespace: bootstrapNamespace, name: bootstrapSecretName(id) }, soon())
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Approves like Karmada: any agent's certificate for a token's user, and an agent's own for an agent. */
const approver: ControllerDefinition = {
  name: 'agent-csr-approving-controller',
  watches: [
    watch(resources.certificateSigningRequests, {
      keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
    }),
  ],
  async reconcile(key, context, signal) {
    const csr = context.informer(resources.certificateSigningRequests).get(parseKey(key))
    if (csr === undefined || (csr.status?.conditions ?? []).length > 0) return
    if (!(await isAgents(csr))) return
    const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message: '' }
    const body = { ...csr, status: { conditions: [condition] } }
    const name = csr.metadata.name ?? ''
    const requests = context.client(resources.certificateSigningRequests)
    await requests.updateSubresource({ name, subresource: 'approval', body }, signal)
  },
}

async function isAgents({ spec }: CertificateSigningRequest): Promise<boolean> {
  const pem = Buffer.from(spec?.request ?? '', 'base64').toString('utf8')
  const { commonName, organizations } = await readSigningRequest(pem)
  const isAgent = commonName.startsWith('system:karmada:agent:')
  if (!isAgent || organizations.join() !== 'system:karmada:agents') return false
  return spec?.groups?.includes(tokensGroup) === true || spec?.username === commonName
}

const tokenSecretText = '0123456789abcdef'

function tokenSecret(id: string): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: bootstrapNamespace, name: bootstrapSecretName(id) },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': tokenSecretText,
      'usage-bootstrap-authentication': 'true',
      'auth-extra-groups': tokensGroup,
    },
  }
}

interface Grant {
  readonly role: string
  readonly subject: { readonly kind: 'User' | 'Group'; readonly name: string }
}

const writers: Grant = { role: 'cluster-admin', subject: { kind: 'User', name: generator } }
const askers: Grant = {
  role: 'system:node-bootstrapper',
  subject: { kind: 'Group', name: tokensGroup },
}

function binding({ role: name, subject }: Grant) {
  const apiGroup = 'rbac.authorization.k8s.io'
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `test:${name}` },
    roleRef: { apiGroup, kind: 'ClusterRole', name },
    subjects: [{ apiGroup, ...subject }],
  } satisfies AnyObject
}
