import type { Container, EphemeralContainer, Pod, Volume, VolumeMount } from '@skerry/api'
import type { Mount, RuntimeVersion } from '../cri/container-runtime.ts'
import { specOf } from '../pod/pod-spec.ts'
import { StartError } from '../pod/start-error.ts'
import type { NodeContext } from './node-context.ts'

/** Mounts the files of an image into a container. Throws StartError if the image or the runtime cannot. */
export async function mountImage(
  context: NodeContext,
  asked: {
    readonly pod: Pod
    readonly container: Container | EphemeralContainer
    readonly volume: NonNullable<Volume['image']>
    readonly volumeMount: VolumeMount
    readonly subPath: string
  },
  signal: AbortSignal,
): Promise<Mount> {
  const { pod, container, volume, volumeMount, subPath } = asked
  const version = await context.runtime.version(signal)
  if (!hasImageVolumes(version)) {
    const message = `volume "${volumeMount.name}" is an image, which containerd ${version.runtimeVersion} cannot mount; it needs containerd 2.1`
    throw new StartError('CreateContainerConfigError', message)
  }
  const { reference, pullPolicy } = volume
  const wanted = {
    name: container.name,
    ...(reference === undefined ? {} : { image: reference }),
    ...(pullPolicy === undefined ? {} : { imagePullPolicy: pullPolicy }),
  }
  const pullSecrets = context.objects.pullSecrets(pod)
  const image = await context.images.ensure({ pod, container: wanted, pullSecrets }, signal)
  return {
    containerPath: volumeMount.mountPath,
    hostPath: '',
    readonly: true,
    propagation: 'PROPAGATION_PRIVATE',
    image: { image: image.id },
    imageSubPath: subPath,
  }
}

/** Returns the references of the images that pods mount as volumes. */
export function imagesOfVolumes(pods: readonly Pod[]): string[] {
  return pods.flatMap((pod) =>
    (specOf(pod).volumes ?? []).flatMap(({ image }) => image?.reference ?? []),
  )
}

/** Versions of containerd begin with `v` in builds of its own. */
function hasImageVolumes({ runtimeVersion }: RuntimeVersion): boolean {
  const [, major = 0, minor = 0] = (/^v?(\d+)\.(\d+)/.exec(runtimeVersion) ?? []).map(Number)
  return major > 2 || (major === 2 && minor >= 1)
}
