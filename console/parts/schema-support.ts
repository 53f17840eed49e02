/** Completes fields and values of a kind in an editor, and underlines those that the server would refuse. */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete'
import type { EditorState, Extension } from '@codemirror/state'
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view'
import type { KindSchema, SchemaField } from '../data/objects/open-api.ts'
import {
  yamlCompletion,
  yamlFindings,
  type YamlCompletion,
  type YamlFinding,
} from '../data/objects/yaml-fields.ts'
import type { YamlTexts } from './yaml-texts.ts'

export function schemaSupport(kind: KindSchema, texts: YamlTexts): Extension {
  const complete = (context: CompletionContext): CompletionResult | null =>
    completionOf(context, kind, texts)
  return [
    autocompletion({ override: [complete], icons: false }),
    EditorView.decorations.compute(['doc'], (state) => underlined(state, kind, texts)),
  ]
}

export function findingText({ path, allowed }: YamlFinding, texts: YamlTexts): string {
  return allowed === undefined
    ? texts.unknownField(path)
    : texts.oddValue(path, allowed.join(' | '))
}

function underlined({ doc }: EditorState, kind: KindSchema, texts: YamlTexts): DecorationSet {
  const marks = yamlFindings(doc.toString(), kind).map((finding) => {
    const attributes = { title: findingText(finding, texts) }
    return Decoration.mark({ class: 'cm-finding', attributes }).range(finding.from, finding.to)
  })
  return Decoration.set(marks)
}

function completionOf(
  { state, pos, explicit }: CompletionContext,
  kind: KindSchema,
  texts: YamlTexts,
): CompletionResult | null {
  const found = yamlCompletion(state.doc.toString(), pos, kind)
  if (found === undefined) return null
  // Without a letter, only somebody who asks wants to see all of them.
  if (!explicit && found.from === pos) return null
  const fields = found.fields.map((field) => fieldChoice(field, found, texts))
  const values = found.values.map((value): Completion => ({ label: value, type: 'enum' }))
  return { from: found.from, options: [...fields, ...values], validFor: /^[\w./-]*$/ }
}

function fieldChoice(field: SchemaField, place: YamlCompletion, texts: YamlTexts): Completion {
  const { name, type, description, isRequired } = field
  const info = [isRequired ? texts.required : '', description].filter(Boolean).join(' ')
  return {
    label: name,
    detail: type,
    ...(info === '' ? {} : { info }),
    apply: place.hasColon ? name : `${name}${startOf(field, place.column)}`,
    boost: isRequired ? 1 : 0,
  }
}

/** Returns the text between a name and its value, the fields of its object, or the first item of its list. */
function startOf({ shape }: SchemaField, column: number): string {
  if (shape === 'scalar') return ': '
  return `:\n${' '.repeat(column)}${shape === 'list' ? '- ' : '  '}`
}
