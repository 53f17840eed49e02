import {
  checkPortName,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type Container,
  type ContainerPort,
  type ContainerResizePolicy,
} from '@skerry/api'
import {
  addInvalid,
  checkLabelField,
  checkNotEmpty,
  checkPortNumber,
  checkRequiredOneOf,
  type Found,
} from '../../checks.ts'
import type { Loose } from '../../typed-strategy.ts'
import { checkEnv, checkEnvFrom } from './env.ts'
import { checkDevices, checkMounts, type VolumesByName } from './mounts.ts'
import { checkRequirements } from './resources.ts'
import { checkSecurityContext } from './security.ts'

/** The facts about a pod that its containers' checks need. */
export interface PodFacts {
  readonly volumes: VolumesByName
  readonly claimNames: ReadonlySet<string>
  readonly restartPolicy: string
  readonly gracePeriod: number | undefined
  readonly hostUsers: boolean
}

export const protocols = ['SCTP', 'TCP', 'UDP']

/** Checks what applies to containers of every type. */
export function checkContainer(
  container: Loose<Container>,
  pod: PodFacts,
  path: string,
  found: Found,
): void {
  const { name = '' } = container
  if (checkNotEmpty(name, `${path}.name`, found)) checkLabelField(name, `${path}.name`, found)
  checkNotEmpty(container.image, `${path}.image`, found)
  const policies = ['File', 'FallbackToLogsOnError']
  const policyField = `${path}.terminationMessagePolicy`
  checkRequiredOneOf(container.terminationMessagePolicy, policies, policyField, found)
  checkPorts(container.ports ?? [], `${path}.ports`, found)
  checkEnv(container.env ?? [], `${path}.env`, found)
  checkEnvFrom(container.envFrom ?? [], `${path}.envFrom`, found)
  checkMounts(container, pod.volumes, path, found)
  checkDevices(container, pod.volumes, path, found)
  const pulls = ['Always', 'IfNotPresent', 'Never']
  checkRequiredOneOf(container.imagePullPolicy, pulls, `${path}.imagePullPolicy`, found)
  checkRequirements(container.resources ?? {}, pod.claimNames, `${path}.resources`, found)
  checkResizePolicies(container.resizePolicy ?? [], pod, `${path}.resizePolicy`, found)
  checkSecurityContext(container.securityContext, pod.hostUsers, `${path}.securityContext`, found)
}

function checkPorts(ports: readonly Loose<ContainerPort>[], field: string, found: Found): void {
  const names = new Set<string>()
  for (const [at, port] of ports.entries()) {
    const path = `${field}[${at}]`
    if (port.name) {
      const texts = checkPortName(port.name)
      addInvalid(found, `${path}.name`, port.name, texts)
      if (texts.length === 0 && names.has(port.name)) {
        found.push(fieldDuplicate(`${path}.name`, port.name))
      }
      names.add(port.name)
    }
    if (port.containerPort) checkPortNumber(port.containerPort, `${path}.containerPort`, found)
    else found.push(fieldRequired(`${path}.containerPort`))
    if (port.hostPort) checkPortNumber(port.hostPort, `${path}.hostPort`, found)
    checkRequiredOneOf(port.protocol, protocols, `${path}.protocol`, found)
  }
}

function checkResizePolicies(
  policies: readonly Loose<ContainerResizePolicy>[],
  pod: PodFacts,
  field: string,
  found: Found,
): void {
  const seen = new Set<string>()
  for (const [at, { resourceName = '', restartPolicy = '' }] of policies.entries()) {
    if (seen.has(resourceName)) found.push(fieldDuplicate(`${field}[${at}]`, resourceName))
    seen.add(resourceName)
    checkRequiredOneOf(resourceName, ['cpu', 'memory'], field, found)
    checkRequiredOneOf(restartPolicy, ['NotRequired', 'RestartContainer'], field, found)
    if (pod.restartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      const detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
      found.push(fieldInvalid(field, restartPolicy, detail))
    }
  }
}

const restartPolicies = ['Always', 'Never', 'OnFailure']

/** Checks the container's own restart policy, which it may have in addition to the pod's. */
export function checkRestartRules(container: Loose<Container>, path: string, found: Found): void {
  const { restartPolicy, restartPolicyRules: rules = [] } = container
  const field = `${path}.restartPolicy`
  if (restartPolicy !== undefined) {
    if (!restartPolicies.includes(restartPolicy)) {
      found.push(fieldNotSupported(field, restartPolicy, restartPolicies))
    }
  } else if (rules.length > 0) {
    found.push(fieldRequired(field, 'must specify restartPolicy when restart rules are used'))
  }
  for (const [at, { action = '', exitCodes }] of rules.entries()) {
    const rule = `${path}.restartPolicyRules[${at}]`
    const actions = ['Restart', 'RestartAllContainers']
    if (!actions.includes(action)) {
      found.push(fieldNotSupported(`${rule}.action`, action, actions))
    }
    if (!exitCodes) {
      found.push(fieldRequired(`${rule}.exitCodes`, 'must be specified'))
    } else if (exitCodes.operator !== 'In' && exitCodes.operator !== 'NotIn') {
      const operators = ['In', 'NotIn']
      found.push(
        fieldNotSupported(`${rule}.exitCodes.operator`, exitCodes.operator ?? '', operators),
      )
    }
  }
}
