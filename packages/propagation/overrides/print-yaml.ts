import { Document, Scalar, visit } from 'yaml'

/**
 * A value as YAML 1.1, laid out as Kubernetes' tools print it: sorted keys, and quotes around text
 * that would else be read as something else. A document that is compared by its text, or of which a
 * hash is taken, stays the same text on either control plane.
 */
export function printYaml(value: unknown): string {
  const document = new Document(value, {
    version: '1.1',
    schema: 'yaml-1.1',
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
      const readsAsOther = others.some((tag) => 'test' in tag && tag.test?.test(text) === true)
      if (readsAsOther) node.type = Scalar.QUOTE_DOUBLE
    },
  })
  return document.toString({ indentSeq: false, lineWidth: 0, singleQuote: true })
}
