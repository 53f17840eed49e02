import { Document, Scalar, visit } from 'yaml'
import { tagsOf } from './yaml-tags.ts'

/**
 * Writes a value as YAML 1.1, laid out as Kubernetes writes it: sorted keys, and quotes around text that would otherwise be
 * read as something else, such as `y`, `on` and `0o7`. So a client may send back what it got, and a document that is
 * compared by its text, or of which a hash is taken, stays the same text on either control plane.
 */
export function printYaml(value: unknown): string {
  const document = new Document(value, {
    version: '1.1',
    schema: 'yaml-1.1',
    // The tag of merges would write the text << without quotes.
    merge: false,
    customTags: (tags) =>
      tagsOf(tags).filter((tag) => typeof tag === 'string' || tag.tag !== mergeTag),
    sortMapEntries: true,
    aliasDuplicateObjects: false,
  })
  const others = document.schema.tags.filter(
    (tag) => 'test' in tag && tag.default === true && tag.tag !== 'tag:yaml.org,2002:str',
  )
  visit(document, {
    Scalar(_, node) {
      const { value: text } = node
      if (typeof text !== 'string') return
      const readsAsOther =
        text === mergeKey || others.some((tag) => 'test' in tag && tag.test?.test(text) === true)
      if (readsAsOther) node.type = Scalar.QUOTE_DOUBLE
    },
  })
  return document.toString({ indentSeq: false, lineWidth: 0, singleQuote: true })
}

const mergeTag = 'tag:yaml.org,2002:merge'
/** Without quotes this key takes in the members of another map. */
const mergeKey = '<<'
