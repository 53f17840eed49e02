import type {
  Container,
  ContainerPort,
  EnvVar,
  HTTPGetAction,
  LifecycleHandler,
  Probe,
} from '@skerry/api'
import type { Loose } from '../typed-strategy.ts'
import { defaultPullPolicy } from './image-pull-policy.ts'

/** Applies to init and ephemeral containers as well, whose fields are the same. */
export function applyContainerDefaults(container: Loose<Container>): void {
  container.imagePullPolicy ||= defaultPullPolicy(container.image ?? '')
  container.terminationMessagePath ||= '/dev/termination-log'
  container.terminationMessagePolicy ||= 'File'
  container.resources ??= {}
  for (const port of container.ports ?? []) applyPortDefaults(port)
  for (const variable of container.env ?? []) applyEnvDefaults(variable)
  applyProbeDefaults(container.livenessProbe)
  applyProbeDefaults(container.readinessProbe)
  applyProbeDefaults(container.startupProbe)
  applyHandlerDefaults(container.lifecycle?.postStart)
  applyHandlerDefaults(container.lifecycle?.preStop)
}

function applyPortDefaults(port: Loose<ContainerPort>): void {
  port.protocol ||= 'TCP'
}

function applyEnvDefaults(variable: Loose<EnvVar>): void {
  const source = variable.valueFrom
  if (source?.fieldRef) source.fieldRef.apiVersion ||= 'v1'
  if (source?.resourceFieldRef) source.resourceFieldRef.divisor ??= '0'
  if (source?.fileKeyRef) source.fileKeyRef.optional ??= false
}

function applyProbeDefaults(probe: Loose<Probe> | undefined): void {
  if (!probe) return
  probe.timeoutSeconds ||= 1
  probe.periodSeconds ||= 10
  probe.successThreshold ||= 1
  probe.failureThreshold ||= 3
  applyHttpGetDefaults(probe.httpGet)
  if (probe.grpc) probe.grpc.service ??= ''
}

function applyHandlerDefaults(handler: Loose<LifecycleHandler> | undefined): void {
  applyHttpGetDefaults(handler?.httpGet)
}

function applyHttpGetDefaults(action: Loose<HTTPGetAction> | undefined): void {
  if (!action) return
  action.path ||= '/'
  action.scheme ||= 'HTTP'
}
