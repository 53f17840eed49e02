import { inBoth } from '../words/language.ts'

export const yamlTexts = inBoth({
  en: {
    edit: 'Edit',
    check: 'Check',
    apply: 'Apply',
    applyForced: 'Apply and take over the fields',
    editOn: 'Keep editing',
    discard: 'Discard',
    hint: 'A check asks the server without changing anything. Ctrl Space completes fields.',
    checked: 'The server would change this:',
    difference: 'Difference',
    changedMeanwhile:
      'The object was changed while you were editing. The difference is to its present state: look for changes that yours would undo.',
    read: 'Read',
    readAgain: 'Read again',
    conflicts:
      'Other managers keep these fields. If you take them over, those managers’ next changes conflict with yours.',
    takeOver: 'Check again, and take over these fields',
    leaveEditor: 'Esc and then Tab leave the editor.',
    line: (number: number) => `Line ${number}`,
    unknownField: (path: string) => `The server knows no field “${path}”.`,
    oddValue: (path: string, allowed: string) => `“${path}” may be ${allowed}.`,
    required: 'Required.',
    noSchema: (why: string) => `Fields are neither completed nor looked at: ${why}`,
  },
  zh: {
    edit: '编辑',
    check: '检查',
    apply: '应用',
    applyForced: '应用并接管字段',
    editOn: '继续编辑',
    discard: '放弃',
    hint: '检查只询问服务器，不做任何更改。Ctrl 空格补全字段。',
    checked: '服务器将做出以下更改：',
    difference: '差异',
    changedMeanwhile:
      '您编辑期间该对象已被更改。以下差异与其当前内容比较：请检查您的更改会撤销什么。',
    read: '读取于',
    readAgain: '重新读取',
    conflicts: '这些字段由其他管理者维护。如果您接管，它们的下一次更改会与您的冲突。',
    takeOver: '接管这些字段并重新检查',
    leaveEditor: '先按 Esc 再按 Tab 可离开编辑器。',
    line: (number: number) => `第 ${number} 行`,
    unknownField: (path: string) => `服务器没有字段“${path}”。`,
    oddValue: (path: string, allowed: string) => `“${path}”可以是 ${allowed}。`,
    required: '必填。',
    noSchema: (why: string) => `无法补全和检查字段：${why}`,
  },
})

export type YamlTexts = (typeof yamlTexts)['en']
