import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mountPointsIn, mountsIn } from './mount-points.ts'

/** The mounts as the kernel shows them after `ip netns add` on a node whose pods have their namespaces there. */
const covered = `60 28 0:39 / /run rw,relatime - tmpfs tmpfs rw
61 60 0:4 net:[4026532320] /run/netns/cni-1 rw - nsfs nsfs rw
125 60 0:39 /netns /run/netns rw,relatime shared:4 - tmpfs tmpfs rw
126 125 0:4 net:[4026532320] /run/netns/cni-1 rw shared:5 - nsfs nsfs rw
130 60 0:50 / /run/a\\040directory\\134of\\012mine rw - tmpfs tmpfs rw
`

test('mount points are read as the kernel escapes them, those beneath others first', () => {
  assert.deepEqual(mountPointsIn(covered), [
    '/run',
    '/run/netns/cni-1',
    '/run/netns',
    '/run/netns/cni-1',
    '/run/a directory\\of\nmine',
  ])
})

test('a mount is shared if the kernel lists a group of peers for it', () => {
  const shared = mountsIn(covered).filter(({ isShared }) => isShared)
  assert.deepEqual(
    shared.map(({ point }) => point),
    ['/run/netns', '/run/netns/cni-1'],
  )
})
