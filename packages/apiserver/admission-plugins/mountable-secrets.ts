import type { Container, PodSpec, ServiceAccount } from '@skerry/api'

type SecretUser = Pick<Container, 'name' | 'env' | 'envFrom'>

const annotation = 'kubernetes.io/enforce-mountable-secrets'

/**
 * Explains why the pod may not use a secret that its account does not list. Accounts enable this by
 * annotation.
 */
export function mountableSecretsProblem(
  account: ServiceAccount,
  spec: PodSpec,
  scope: 'pod' | 'ephemeral',
): string | undefined {
  if (
    !['true', 'True', 'TRUE', 't', 'T', '1'].includes(
      account.metadata.annotations?.[annotation] ?? '',
    )
  ) {
    return undefined
  }
  const allowed = new Set((account.secrets ?? []).map((reference) => reference.name ?? ''))
  const by = `is not allowed because service account ${account.metadata.name} does not reference that`
  const inContainer = (kind: string, containers: readonly SecretUser[] = []) =>
    containers.flatMap((container) => containerUses(kind, container))
  const uses =
    scope === 'ephemeral'
      ? inContainer('ephemeral container', spec.ephemeralContainers)
      : [
          ...volumeUses(spec),
          ...inContainer('init container', spec.initContainers),
          ...inContainer('container', spec.containers ?? []),
        ]
  const refused = uses.find(({ secret }) => !allowed.has(secret))
  if (refused) return `${refused.where} secret.secretName="${refused.secret}" ${by} secret`
  if (scope === 'ephemeral') return undefined
  const pulls = new Set((account.imagePullSecrets ?? []).map((reference) => reference.name ?? ''))
  const index = (spec.imagePullSecrets ?? []).findIndex(({ name }) => !pulls.has(name ?? ''))
  if (index < 0) return undefined
  return `imagePullSecrets[${index}].name="${spec.imagePullSecrets?.[index]?.name}" ${by} imagePullSecret`
}

interface SecretUse {
  readonly where: string
  readonly secret: string
}

function volumeUses(spec: PodSpec): SecretUse[] {
  return (spec.volumes ?? []).flatMap((volume) =>
    volume.secret ? [{ where: 'volume with', secret: volume.secret.secretName ?? '' }] : [],
  )
}

function containerUses(kind: string, container: SecretUser): SecretUse[] {
  const fromEnv = (container.env ?? []).flatMap(({ name, valueFrom }) => {
    const secret = valueFrom?.secretKeyRef?.name
    const where = `${kind} ${container.name} with envVar ${name} referencing`
    return secret === undefined ? [] : [{ where, secret }]
  })
  const fromSource = (container.envFrom ?? []).flatMap(({ secretRef }) => {
    const where = `${kind} ${container.name} with envFrom referencing`
    return secretRef?.name === undefined ? [] : [{ where, secret: secretRef.name }]
  })
  return [...fromEnv, ...fromSource]
}
