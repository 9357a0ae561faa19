import { describe, expect, test } from 'vitest'
import { isContentFree, normalize } from '../../src/deliver/guard.ts'

describe('a text that says nothing', () => {
  test.each([
    ['nothing', ['', ' ', '\n', '.', '…', '—', '👍', '✅✅', '```', '{}', '()', '！？']],
    ['English', [
      'ok', 'OK!', 'Okay.', 'LGTM', 'Looks good to me.', 'looks good', 'No issues.', 'No issues found', 'No concerns.', 'All good',
      'Continue.', 'Proceed', 'Keep going', 'Nothing to report.', 'nothing to add', 'None', 'N/A', 'n.a.', 'null', 'Stop', 'Done',
      'Good job!', 'On track.', 'No further comments.', 'Acknowledged', 'No action needed.', 'no changes needed', 'yes', 'no',
    ]],
    ['labels', ['Nit: ok', 'NOTE: none', 'concern:', 'Blocker', 'Concern — no issues', '**Nit:** looks good']],
    ['Chinese', ['没问题', '没有问题。', '继续', '好的！', '无', '完成', '一切正常', '看起来不错', '没有建议', '沉默', '收到']],
    ['Japanese', ['問題なし', '問題ありません。', '特になし', '続行', 'はい', '了解']],
    ['Korean', ['없음', '문제없음', '문제 없음', '계속하세요', '완료']],
    ['German', ['Alles gut.', 'Keine Probleme', 'Kein Problem!', 'Weiter', 'Keine Anmerkungen.', 'Fertig']],
    ['French', ['Rien à signaler.', 'Aucun problème', 'Pas de problème', 'C\'est bon', 'Terminé']],
    ['Spanish', ['Sin problemas', 'Todo bien.', 'Ningún problema', 'Listo', 'Continúa']],
    ['Portuguese and Italian', ['Tudo bem', 'Sem problemas', 'Nenhum problema', 'Tutto bene', 'Nessun problema']],
    ['Russian', ['Нет проблем', 'Всё хорошо', 'все хорошо.', 'Продолжай', 'Готово']],
    ['other widths and forms', ['ＯＫ', 'ｌｇｔｍ', 'No\u00a0issues', 'rien a\u0300 signaler', 'ningu\u0301n problema']],
  ])('%s', (_language, texts) => {
    expect(texts.filter(text => !isContentFree(text))).toEqual([])
  })
})

test.each([
  'No issues with a.ts, but b.ts is never written.', 'Stop editing the lock file.', 'The test was never run.',
  'Continue is missing in the loop.',
  'ok is not defined in src/a.ts', '没有问题的测试被跳过', 'b.txt は存在しません', 'Nothing to report is printed twice.',
  'Note the user asked for b.txt.',
  'done() is never called', 'nit: rename x', '문제가 있습니다', '404',
])('%j says something', (text) => {
  expect(isContentFree(text)).toBe(false)
})

test.each([
  ['  Fix\tthe   FILE\n', 'fix the file'], ['`src/a.ts`:12', 'src a ts 12'], ['ＡＢＣ①', 'abc1'], ['ﬁle', 'file'], ['don\'t', 'don t'],
  ['文件，不存在。', '文件 不存在'], ['é', 'é'], ['e\u0301', 'é'], ['', ''], ['👍', ''],
])('%j is compared as %j', (text, key) => {
  expect(normalize(text)).toBe(key)
})
