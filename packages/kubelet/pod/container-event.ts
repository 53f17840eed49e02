import type { Pod } from '@skerry/api'
import type { EventRecorder, EventText } from '@skerry/client'
import { findContainer, type ContainerKind } from './pod-spec.ts'

const lists: Readonly<Record<ContainerKind, string>> = Object.freeze({
  init: 'initContainers',
  sidecar: 'initContainers',
  regular: 'containers',
  ephemeral: 'ephemeralContainers',
})

/** An event on one container, which `kubectl describe` shows with the container's name. */
export function containerEvent(
  events: EventRecorder,
  pod: Pod,
  name: string,
  text: EventText,
): void {
  const list = lists[findContainer(pod, name)?.kind ?? 'regular']
  events.event(pod, { ...text, fieldPath: `spec.${list}{${name}}` })
}
