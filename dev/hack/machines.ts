/**
 * Plays the life of an edge cluster on virtual machines with a kernel, systemd and a volatile disk of their own.
 * Development only:
 *   node dev/hack/machines.ts                a quarter of an hour: three machines, made while one loses its power, rebooted,
 *                                            cut off, grown, taken away
 *   node dev/hack/machines.ts --arch arm64   ten minutes, and a quarter of an hour more for the first base image: one bare
 *                                            machine of aarch64, made from an offline package, rebooted, taken away
 * Needs root and the packages qemu-system-x86 (qemu-system-arm) mmdebstrap e2fsprogs cpio xz-utils openssh-client; the
 * kernel comes from the package mirror. Nothing stays on the host but base images below the system's temporary directory.
 */
import { parseArgs } from 'node:util'
import { ExpectedError, exitCodes } from '@skerry/base'
import { offlineStory } from './machines/offline-story.ts'
import { powerCutStory } from './machines/power-cut-story.ts'
import { whyNoVirtualMachine } from './virtual-machines/virtual-machine.ts'

const stories = [powerCutStory, offlineStory]

const { values } = parseArgs({ options: { arch: { type: 'string', default: 'x64' } } })
const story = stories.find(({ architecture }) => architecture === values.arch)
if (story === undefined) {
  const known = stories.map(({ architecture }) => architecture).join(' or ')
  throw new ExpectedError(`Cannot run machines of ${values.arch}: use ${known}`, exitCodes.usage)
}
const why = await whyNoVirtualMachine(story.architecture)
if (why !== false)
  throw new ExpectedError(`Cannot run machines: ${why}`, exitCodes.missingDependency)
await story.play()
