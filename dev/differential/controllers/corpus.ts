import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { differencesBetween, type Found } from '../compare.ts'
import { explanationOf } from './explained-differences.ts'
import { parseCheckpoints } from './golden.ts'
import type { Checkpoint } from './play-story.ts'
import { parseStory, type Story } from './story.ts'

const ownRoot = import.meta.dirname

/** Reads every story of a directory, or those whose name contains one of the given parts. */
export function readStories(parts: readonly string[] = [], root: string = ownRoot): Story[] {
  return globSync('*.story', { cwd: join(root, 'stories') })
    .map((file) => basename(file, '.story'))
    .toSorted()
    .filter((name) => parts.length === 0 || parts.some((part) => name.includes(part)))
    .map((name) => parseStory(name, readFileSync(join(root, 'stories', `${name}.story`), 'utf8')))
}

export function goldenPath(story: string, root: string = ownRoot): string {
  return join(root, 'golden', `${story}.golden`)
}

/** Reads the recorded actions of upstream's controllers. */
export function readGolden(story: string, root: string = ownRoot): Checkpoint[] {
  const path = goldenPath(story, root)
  if (!existsSync(path))
    throw new Error(
      `Cannot replay ${story}: record it first (node_modules/.bin/node dev/hack/controllers.ts record)`,
    )
  return parseCheckpoints(readFileSync(path, 'utf8'))
}

/** One place where two runs of a story differ. */
export interface StoryDifference extends Found {
  readonly story: string
  readonly chapter: string
  /** The object's reference, or `event on …`. */
  readonly object: string
}

export function compareCheckpoints(
  story: string,
  upstream: readonly Checkpoint[],
  ours: readonly Checkpoint[],
): StoryDifference[] {
  const byName = new Map(ours.map(({ name, changes }) => [name, changes]))
  return upstream.flatMap(({ name: chapter, changes }) => {
    const played = byName.get(chapter) ?? {}
    const objects = [...new Set([...Object.keys(changes), ...Object.keys(played)])]
    return objects.flatMap((object) =>
      [...differencesBetween(changes[object], played[object], '')].map((found) => ({
        story,
        chapter,
        object,
        ...found,
      })),
    )
  })
}

/** Returns the differences without an explanation. */
export function unexplained(
  story: string,
  upstream: readonly Checkpoint[],
  ours: readonly Checkpoint[],
): StoryDifference[] {
  return compareCheckpoints(story, upstream, ours).filter(
    (difference) => explanationOf(difference) === undefined,
  )
}
