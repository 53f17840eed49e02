/**
 * Plays the life of volumes of the real csi-driver-host-path, with its unmodified sidecars, on a site with a node.
 * Development only:
 *   node dev/hack/csi.ts [inline] [reboot] [volume] [block] [snapshot] [--clones <directory>]
 * The driver and its registrar run as a pod, the other programs next to the site. All are built from Go's module proxy, or
 * from clones of their repositories in --clones. Needs root, the packages of end-to-end tests, Go and its module proxy, and
 * loop devices for block.
 */
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ExpectedError, exitCodes } from '@skerry/base'
import { whyNot } from '../e2e/prerequisites.ts'
import { buildCsiPrograms } from './csi/csi-programs.ts'
import { CsiScene } from './csi/csi-scene.ts'
import { csiStories } from './csi/csi-stories.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { clones: { type: 'string' } },
})
const unknown = positionals.find((name) => !(name in csiStories))
if (unknown !== undefined) {
  const text = `Cannot play ${unknown}: the stories are ${Object.keys(csiStories).join(', ')}`
  throw new ExpectedError(text, exitCodes.usage)
}
const why = await whyNot()
if (why !== false) throw new ExpectedError(`Cannot play: ${why}`, exitCodes.missingDependency)
const stories = Object.entries(csiStories).filter(
  ([name]) => positionals.length === 0 || positionals.includes(name),
)
const programs = new Set(stories.flatMap(([, story]) => story.programs))
await buildCsiPrograms([...programs], values.clones, existsSync)
await using scene = await CsiScene.start()
await scene.startDriver()
for (const [name, { play }] of stories) {
  const startMs = performance.now()
  await play(scene)
  console.log(`${name}: as it should be, ${Math.round((performance.now() - startMs) / 1000)} s`)
}
