/**
 * Lists comments, paragraphs, titles of tests and messages whose English STYLE.md asks to change. Development only.
 *   node dev/hack/english.ts [paths]     of files whose path starts with one of these; none means all
 */
import { englishSlipsIn } from '../english-slips.ts'
import { sourceFiles } from '../source-files.ts'

const prefixes = process.argv.slice(2)
const chosen = sourceFiles().filter(
  (file) => prefixes.length === 0 || prefixes.some((prefix) => file.startsWith(prefix)),
)
const slips = chosen.flatMap((file) => englishSlipsIn(file).map((slip) => ({ file, ...slip })))
for (const { file, line, rule, text } of slips) {
  console.log(`${file}${line === undefined ? '' : `:${line}`}: ${rule}: ${text.slice(0, 200)}`)
}
console.log(`${slips.length} in ${new Set(slips.map(({ file }) => file)).size} files`)
