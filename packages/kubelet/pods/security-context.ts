import type { Container, EphemeralContainer, Pod, SeccompProfile } from '@skerry/api'
import type {
  Image,
  LinuxContainerSecurityContext,
  NamespaceOption,
  PodSandboxConfig,
  SecurityProfile,
} from '../cri/container-runtime.ts'
import { specOf } from '../pod/pod-spec.ts'
import { StartError } from '../pod/start-error.ts'

/** The paths under /proc and /sys that reveal, or affect, the whole machine. */
const maskedPaths: readonly string[] = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/sys/devices/virtual/powercap',
  '/sys/firmware',
]
const readonlyPaths: readonly string[] = [
  '/proc/bus',
  '/proc/fs',
  '/proc/irq',
  '/proc/sys',
  '/proc/sysrq-trigger',
]

export interface SecurityInput {
  pod: Pod
  container: Container | EphemeralContainer
  image: Pick<Image, 'uid' | 'username'>
  /** The container whose processes an ephemeral one may see. */
  targetContainerId?: string
  /** The directory of profiles of type Localhost. */
  seccompDirectory: string
}

/** The container's settings win over the pod's. Throws StartError where the image breaks them. */
export function containerSecurityContext(input: SecurityInput): LinuxContainerSecurityContext {
  const { pod, container, image } = input
  const own = container.securityContext ?? {}
  const shared = specOf(pod).securityContext ?? {}
  const runAsUser = own.runAsUser ?? shared.runAsUser
  const runAsGroup = own.runAsGroup ?? shared.runAsGroup
  if (own.runAsNonRoot ?? shared.runAsNonRoot) refuseRoot(input, runAsUser)
  const isUnmasked = own.procMount === 'Unmasked' || own.privileged === true
  const seccomp = seccompProfile(own.seccompProfile ?? shared.seccompProfile, input)
  const apparmor = own.appArmorProfile ?? shared.appArmorProfile
  const selinux = own.seLinuxOptions ?? shared.seLinuxOptions
  return {
    ...(own.capabilities
      ? {
          capabilities: {
            addCapabilities: own.capabilities.add ?? [],
            dropCapabilities: own.capabilities.drop ?? [],
          },
        }
      : {}),
    privileged: own.privileged === true,
    namespaceOptions: namespaceOptions(pod, input.targetContainerId),
    ...(selinux ? { selinuxOptions: selinux } : {}),
    ...userOf(runAsUser, image),
    ...(runAsGroup === undefined ? {} : { runAsGroup: { value: runAsGroup } }),
    readonlyRootfs: own.readOnlyRootFilesystem === true,
    supplementalGroups: supplementalGroups(pod),
    noNewPrivs: own.allowPrivilegeEscalation === false,
    maskedPaths: isUnmasked ? [] : [...maskedPaths],
    readonlyPaths: isUnmasked ? [] : [...readonlyPaths],
    seccomp: own.privileged ? { profileType: 'Unconfined' } : seccomp,
    ...(apparmor ? { apparmor: profile(apparmor.type, apparmor.localhostProfile ?? '') } : {}),
  }
}

type SandboxSecurity = PodSandboxConfig['linux']['securityContext']

export function sandboxSecurityContext(pod: Pod): SandboxSecurity {
  const spec = specOf(pod)
  const shared = spec.securityContext ?? {}
  const all = [...spec.containers, ...(spec.initContainers ?? [])]
  return {
    namespaceOptions: namespaceOptions(pod),
    ...(shared.seLinuxOptions ? { selinuxOptions: shared.seLinuxOptions } : {}),
    ...(shared.runAsUser === undefined ? {} : { runAsUser: { value: shared.runAsUser } }),
    ...(shared.runAsGroup === undefined || shared.runAsUser === undefined
      ? {}
      : { runAsGroup: { value: shared.runAsGroup } }),
    supplementalGroups: supplementalGroups(pod),
    privileged: all.some(({ securityContext }) => securityContext?.privileged === true),
    seccomp: { profileType: 'RuntimeDefault' },
  }
}

export function namespaceOptions(pod: Pod, targetContainerId?: string): NamespaceOption {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace } = specOf(pod)
  const options: NamespaceOption = {
    network: hostNetwork ? 'NODE' : 'POD',
    pid: hostPID ? 'NODE' : shareProcessNamespace ? 'POD' : 'CONTAINER',
    ipc: hostIPC ? 'NODE' : 'POD',
  }
  if (targetContainerId === undefined || options.pid !== 'CONTAINER') return options
  return { ...options, pid: 'TARGET', targetId: targetContainerId }
}

function supplementalGroups(pod: Pod): number[] {
  const { supplementalGroups = [], fsGroup } = specOf(pod).securityContext ?? {}
  return fsGroup === undefined ? supplementalGroups : [...supplementalGroups, fsGroup]
}

function userOf(
  runAsUser: number | undefined,
  image: Pick<Image, 'uid' | 'username'>,
): Pick<LinuxContainerSecurityContext, 'runAsUser' | 'runAsUsername'> {
  const uid = runAsUser ?? image.uid
  if (uid !== undefined) return { runAsUser: { value: uid } }
  return image.username ? { runAsUsername: image.username } : {}
}

function refuseRoot({ pod, container, image }: SecurityInput, runAsUser: number | undefined): void {
  const where = `(pod: "${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})", container: ${container.name})`
  const refuse = (why: string): StartError =>
    new StartError('CreateContainerConfigError', `${why} ${where}`)
  if (runAsUser !== undefined) {
    if (runAsUser === 0) throw refuse("container's runAsUser breaks non-root policy")
    return
  }
  if (image.uid === 0 || (image.uid === undefined && image.username === '')) {
    throw refuse('container has runAsNonRoot and image will run as root')
  }
  if (image.uid === undefined) {
    throw refuse(
      `container has runAsNonRoot and image has non-numeric user (${image.username}), cannot verify user is non-root`,
    )
  }
}

/** Returns the profile. Without a setting a container runs unconfined, as by kubelet's default. */
function seccompProfile(
  seccomp: SeccompProfile | undefined,
  { seccompDirectory }: SecurityInput,
): SecurityProfile {
  if (!seccomp) return { profileType: 'Unconfined' }
  return profile(seccomp.type, `${seccompDirectory}/${seccomp.localhostProfile ?? ''}`)
}

function profile(type: string, localhostRef: string): SecurityProfile {
  if (type === 'Localhost') return { profileType: 'Localhost', localhostRef }
  return { profileType: type === 'RuntimeDefault' ? 'RuntimeDefault' : 'Unconfined' }
}
