import type {
  ContainerStatus,
  Job,
  Pod,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
} from '@skerry/api'

export type FailureVerdict =
  | { readonly action: 'Count' | 'FailIndex' | 'Ignore' }
  | { readonly action: 'FailJob'; readonly message: string }

const counts: FailureVerdict = Object.freeze({ action: 'Count' })

/** The first rule that matches this failed pod decides. If none does, the failure counts. */
export function judgeFailure(job: Job, pod: Pod): FailureVerdict {
  for (const [position, rule] of (job.spec?.podFailurePolicy?.rules ?? []).entries()) {
    const reason = matchRule(rule, pod)
    if (reason === undefined) continue
    if (rule.action === 'FailJob') {
      const message = `${reason} matching ${rule.action} rule at index ${position}`
      return { action: 'FailJob', message }
    }
    if (rule.action === 'Ignore' || rule.action === 'FailIndex') return { action: rule.action }
    return counts
  }
  return counts
}

/** Describes what matched, or returns undefined if nothing did. */
function matchRule(
  { onExitCodes, onPodConditions }: PodFailurePolicyRule,
  pod: Pod,
): string | undefined {
  const { namespace, name } = pod.metadata
  if (onExitCodes) {
    const container = matchExitCodes(pod, onExitCodes)
    if (!container) return undefined
    const code = container.state?.terminated?.exitCode
    return `Container ${container.name} for pod ${namespace}/${name} failed with exit code ${code}`
  }
  const condition = pod.status?.conditions?.find(({ type, status }) =>
    onPodConditions?.some((each) => each.type === type && (each.status ?? 'True') === status),
  )
  return condition ? `Pod ${namespace}/${name} has condition ${condition.type}` : undefined
}

function matchExitCodes(
  pod: Pod,
  { containerName, operator, values }: PodFailurePolicyOnExitCodesRequirement,
): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
  return [...containerStatuses, ...initContainerStatuses].find(({ name, state }) => {
    const code = state?.terminated?.exitCode
    if (code === undefined || code === 0) return false
    if (containerName !== undefined && containerName !== name) return false
    return operator === 'NotIn' ? !values.includes(code) : values.includes(code)
  })
}
