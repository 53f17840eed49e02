import {
  podReferences,
  type Container,
  type Pod,
  type PodSpec,
  type ServiceAccount,
  type Volume,
} from '@skerry/api'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import { isMirrorPod } from '../authz/node-references.ts'
import { getTyped, typed } from '../contract/typed-objects.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'
import { mountableSecretsProblem } from './mountable-secrets.ts'
import { nameSuffix } from './name-suffix.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { refuse } from '../admission-matching/refusal.ts'
import { apiServerBounds } from '../limits-table.ts'

const volumePrefix = 'kube-api-access-'
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'
const { defaultAccountTries, triesEveryMs } = apiServerBounds.serviceAccount
/** An hour and a little: the odd value marks tokens that were injected rather than requested. */
const tokenSeconds = 3607

/** Gives every pod an account, and mounts a token for it unless the pod or the account opts out. */
export function createServiceAccountPlugin(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'ServiceAccount',
    handles: ({ resource, subresource, operation, object }) =>
      isResource(resource, wellKnown.pods) &&
      object !== undefined &&
      ((operation === 'CREATE' && subresource === '') ||
        (operation === 'UPDATE' && subresource === 'ephemeralcontainers')),
    async admit(request) {
      if (request.operation !== 'CREATE' || !request.object) return
      const pod = typed<Pod>(request.object)
      if (!pod.spec) return
      // This comes before NodeRestriction, as upstream.
      if (isMirrorPod(pod)) return checkMirror(request, pod)
      pod.spec.serviceAccountName ||= 'default'
      // The deprecated alias that old clients still read.
      pod.spec.serviceAccount = pod.spec.serviceAccountName
      const account = await findAccount(request, pod.spec.serviceAccountName, deps)
      if (isMounted(pod.spec, account)) mountToken(pod.spec, nameSuffix(deps.random))
      if (!pod.spec.imagePullSecrets?.length && account.imagePullSecrets?.length) {
        pod.spec.imagePullSecrets = account.imagePullSecrets.map(({ name }) => ({ name }))
      }
    },
    async validate(request) {
      if (!request.object) return
      const pod = typed<Pod>(request.object)
      if (!pod.spec) return
      const isCreate = request.operation === 'CREATE'
      if (isCreate && isMirrorPod(pod)) return checkMirror(request, pod)
      const { serviceAccountName } = pod.spec
      if (!serviceAccountName) {
        const { namespace } = request
        throw refuse(
          request,
          `no service account specified for pod ${namespace}/${pod.metadata.name ?? ''}`,
        )
      }
      const account = await findAccount(request, serviceAccountName, deps)
      const problem = mountableSecretsProblem(account, pod.spec, isCreate ? 'pod' : 'ephemeral')
      if (problem !== undefined) throw refuse(request, problem)
    },
  }
}

/** Mirror pods show what a node runs from its own disk; they have no rights in the cluster. */
function checkMirror(request: AdmissionRequest, pod: Pod): void {
  const references = podReferences(pod)
  if (pod.spec?.serviceAccountName) {
    throw refuse(request, 'a mirror pod may not reference service accounts')
  }
  if (references.some(({ resource, name }) => resource === 'secrets' && name !== '')) {
    throw refuse(request, 'a mirror pod may not reference secrets')
  }
  if (
    references.some(({ resource, via }) => resource === 'serviceaccounts' && via === 'projected')
  ) {
    throw refuse(request, 'a mirror pod may not use ServiceAccountToken volume projections')
  }
}

async function findAccount(
  request: AdmissionRequest,
  name: string,
  { objects, clock }: PluginDeps,
): Promise<ServiceAccount> {
  const { namespace } = request
  const tries = name === 'default' ? defaultAccountTries : 1
  for (let attempt = 1; ; attempt++) {
    const account = getTyped<ServiceAccount>(objects, wellKnown.serviceAccounts, {
      namespace,
      name,
    })
    if (account) return account
    if (attempt >= tries) break
    await clock.sleep(triesEveryMs, new AbortController().signal)
  }
  throw refuse(
    request,
    `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
  )
}

function isMounted(spec: PodSpec, account: ServiceAccount): boolean {
  return spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true
}

/** A container with its own mount at the path keeps it. */
function mountToken(spec: PodSpec, suffix: string): void {
  const existing = (spec.volumes ?? []).find((volume) => volume.name.startsWith(volumePrefix))
  const name = existing?.name ?? `${volumePrefix}${suffix}`
  const containers: Container[] = [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
  const without = containers.filter(
    (container) => !container.volumeMounts?.some((mount) => mount.mountPath === mountPath),
  )
  for (const container of without) {
    container.volumeMounts = [
      ...(container.volumeMounts ?? []),
      { name, readOnly: true, mountPath },
    ]
  }
  if (existing || without.length === 0) return
  spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)]
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      defaultMode: 0o644,
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [
              {
                path: 'namespace',
                fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' },
              },
            ],
          },
        },
      ],
    },
  }
}
