import type { Image } from '../cri/container-runtime.ts'
import { imageGarbageDefaults } from '../limits-table.ts'

export interface ImageUse {
  image: Image
  firstSeenMs: number
  /** 0: never. */
  lastUsedMs: number
}

export interface ImageGarbageInput {
  images: readonly ImageUse[]
  /** The ids and references that containers, in any state, or pods name. */
  inUse: ReadonlySet<string>
  disk: { usedBytes: number; capacityBytes: number }
  nowMs: number
}

/** Returns the images to remove, the longest unused first; none below the high mark. */
export function planImageGarbage(input: ImageGarbageInput): Image[] {
  const { disk, nowMs } = input
  const { highShare, lowShare, ageMsMin } = imageGarbageDefaults
  if (disk.usedBytes < highShare * disk.capacityBytes) return []
  let excessBytes = disk.usedBytes - lowShare * disk.capacityBytes
  const candidates = input.images
    .filter(({ image }) => !isInUse(image, input.inUse))
    .filter(({ firstSeenMs }) => nowMs - firstSeenMs >= ageMsMin)
    .toSorted((one, other) => one.lastUsedMs - other.lastUsedMs)
  const removed: Image[] = []
  for (const { image } of candidates) {
    if (excessBytes <= 0) break
    removed.push(image)
    excessBytes -= image.size
  }
  return removed
}

function isInUse(image: Image, inUse: ReadonlySet<string>): boolean {
  return [image.id, ...image.repoTags, ...image.repoDigests].some((name) => inUse.has(name))
}
