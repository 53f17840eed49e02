import type { Node, Pod, VolumeAttachment } from '@skerry/api'
import { isAttached, reportedVolumes } from './csi-volume.ts'

/** Upstream's time limits: for an unmount on a node that is gone, and for a driver's answer. */
const patienceMs = Object.freeze({ unmount: 6 * 60_000, attach: 2 * 60_000 })

/** The known state of one volume. */
export interface AttachState {
  volumeName: string
  driver: string
  handle: string
  /** True if the volume may be attached to several nodes. */
  isShareable: boolean
  /** The pods that need the volume, by node, without nodes that have none. */
  wanted: ReadonlyMap<string, readonly Pod[]>
  attachments: ReadonlyMap<string, VolumeAttachment>
  /** The nodes that the volume concerns. */
  nodes: ReadonlyMap<string, Node>
  /** Since when no pod needs the volume on a node, and since when a driver is waited for (epoch ms). */
  unwantedSinceMs: ReadonlyMap<string, number>
  waitingSinceMs: ReadonlyMap<string, number>
  nowMs: number
}

export interface AttachPlan {
  /** `mustAsk`: detach only if the node itself does not report that it uses the volume. */
  detach: readonly { nodeName: string; mustAsk: boolean }[]
  attach: readonly string[]
  /** The nodes that may use the volume from now on. */
  report: readonly string[]
  /** The nodes that cannot have the volume, and those that have it. */
  refused: readonly { nodeName: string; holders: readonly string[] }[]
  failed: readonly { nodeName: string; message: string }[]
  /** The time after which to look again. */
  nextMs?: number
}

/**
 * Plans the next steps for one volume. A volume is detached from a node that reports using it only
 * if that node is out of service or has been unhealthy for six minutes. It is attached to one node
 * at a time unless its access modes allow more.
 */
export function planAttach(state: AttachState): AttachPlan {
  const delaysMs: number[] = []
  const holders = holdersOf(state)
  const detach = [...holders]
    .filter((nodeName) => !state.wanted.has(nodeName))
    .flatMap((nodeName) => planDetach(state, nodeName, delaysMs))
  const plan = { detach, attach: [], report: [], refused: [], failed: [] }
  const wanted = planWanted(state, holders, delaysMs)
  const nextMs = delaysMs.length === 0 ? {} : { nextMs: Math.min(...delaysMs) }
  return { ...plan, ...wanted, ...nextMs }
}

function holdersOf({ volumeName, attachments, nodes }: AttachState): ReadonlySet<string> {
  const reporting = [...nodes].filter(([, node]) => reportedVolumes(node).includes(volumeName))
  return new Set([...attachments.keys(), ...reporting.map(([name]) => name)])
}

function planDetach(
  state: AttachState,
  nodeName: string,
  delaysMs: number[],
): { nodeName: string; mustAsk: boolean }[] {
  const node = state.nodes.get(nodeName)
  const sinceMs = state.unwantedSinceMs.get(nodeName) ?? state.nowMs
  const leftMs = sinceMs + patienceMs.unmount - state.nowMs
  const isOverdue = leftMs < 0
  const isOut = node?.spec?.taints?.some(({ key }) => key === outOfService) === true
  const isUsed = node?.status?.volumesInUse?.includes(state.volumeName) === true
  if (isUsed && !isOut && !(isOverdue && !isReady(node))) {
    if (!isOverdue) delaysMs.push(leftMs + 1)
    return []
  }
  return [{ nodeName, mustAsk: !isOverdue && !isOut }]
}

const outOfService = 'node.kubernetes.io/out-of-service'

function isReady(node: Node | undefined): boolean {
  const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready')
  return ready?.status === 'True'
}

function planWanted(
  state: AttachState,
  holders: ReadonlySet<string>,
  delaysMs: number[],
): Pick<AttachPlan, 'attach' | 'report' | 'refused' | 'failed'> {
  const attach: string[] = []
  const report: string[] = []
  const refused: { nodeName: string; holders: readonly string[] }[] = []
  const failed: { nodeName: string; message: string }[] = []
  for (const nodeName of state.wanted.keys()) {
    const attachment = state.attachments.get(nodeName)
    const others = [...holders, ...attach].filter((each) => each !== nodeName)
    if (isAttached(attachment)) {
      const isReported = reportedVolumes(state.nodes.get(nodeName)).includes(state.volumeName)
      if (!isReported) report.push(nodeName)
    } else if (attachment === undefined && !state.isShareable && others.length > 0) {
      refused.push({ nodeName, holders: others })
    } else if (attachment === undefined) {
      attach.push(nodeName)
    } else {
      const message = complaintOf(state, { nodeName, attachment }, delaysMs)
      if (message !== undefined) failed.push({ nodeName, message })
    }
  }
  return { attach, report, refused, failed }
}

/** Returns the problem of an unfinished attachment, or undefined while its driver still has time. */
function complaintOf(
  { waitingSinceMs, nowMs, driver, handle }: AttachState,
  { nodeName, attachment }: { nodeName: string; attachment: VolumeAttachment },
  delaysMs: number[],
): string | undefined {
  if (attachment.metadata.deletionTimestamp !== undefined) {
    return 'volume attachment is being deleted'
  }
  const error = attachment.status?.attachError
  if (error !== undefined) return error.message ?? ''
  const leftMs = (waitingSinceMs.get(nodeName) ?? nowMs) + patienceMs.attach - nowMs
  if (leftMs <= 0) {
    return `timed out waiting for external-attacher of ${driver} CSI driver to attach volume ${handle}`
  }
  delaysMs.push(leftMs)
  return undefined
}
