// Words that say nothing about the work. A sentence made of them alone, with at least one that makes it an order or praise, is
// empty; one word from outside the list and it may be a finding. So the lists leave out "not", "no" and "missing".

export type Bareness = 'order' | 'praise'

interface Words {
  readonly kind: Bareness
  /** One of these makes the sentence what it is. */
  readonly needs: ReadonlySet<string>
  readonly others: ReadonlySet<string>
}

interface Phrases {
  readonly kind: Bareness
  readonly needs: RegExp
  /** Every phrase, global. */
  readonly all: RegExp
}

function words(kind: Bareness, needs: string, others: string): Words {
  return { kind, needs: new Set(needs.split(' ')), others: new Set(others.split(' ')) }
}

function phrases(kind: Bareness, needs: string, others: string): Phrases {
  const longestFirst = (list: string) => list.split(' ').sort((a, b) => b.length - a.length).join('|')
  return { kind, needs: new RegExp(longestFirst(needs)), all: new RegExp(longestFirst(`${needs} ${others}`), 'g') }
}

/** Languages that part words by spaces: English, German, French, Spanish, Russian. */
export const BARE: readonly Words[] = [
  words(
    'order',
    'stop halt pause wait abort hold ask consult confirm proceed proceeding continue continuing decide',
    'please just now here immediately right away at once for a moment the user users s your their his her its from with to and or then '
      + 'before until till first on off all any anything everything else do don t not doing going go ahead further more next step steps '
      + 'work working changes making make taking take this that what you are re should must need needs have let them him agent it is has '
      + 'instructions instruction input approval approve approves confirmation confirms response responds reply replies answer answers '
      + 'feedback permission guidance clarification decision says back again in of by without check',
  ),
  words(
    'praise',
    'good great nice excellent perfect fine well correct solid track done complete completed finished progress lgtm works right '
      + 'impressive thorough thanks pass passes passed',
    'the a an this that these it is are was were has have been looks look seems everything all so far very really job work agent you '
      + 'your s keep going continue carry on step steps change changes code implementation solution approach plan direction up i we think '
      + 'task and as expected for now here tests test making made to now looking',
  ),
  words(
    'order',
    'stopp stoppe stoppen anhalten halt halte warte warten pausiere pausieren frage frag fragen bestätige kläre klären unterbrich',
    'bitte sofort jetzt hier auf den die das der dem des benutzer benutzers nutzer nutzers anwender und ein an erst zuerst bevor du sie '
      + 'ihn weitermachst weitermachen fortfährst fortfahren mit allem agent soll sollte muss musst nicht weiter mach machen antwort '
      + 'bestätigung freigabe anweisungen weitere bis er antwortet um zustimmung alles arbeit ab was tust tun es',
  ),
  words(
    'praise',
    'gut gute guter gutes sehr super prima toll perfekt korrekt richtig fertig erledigt passt sauber',
    'alles sieht aus die das der arbeit weiter so bisher ist sind läuft nach plan gemacht umsetzung lösung code agent macht schritt '
      + 'fortschritt fortschritte und dieser diese',
  ),
  words(
    'order',
    'arrête arrêtez arrêter stop attends attendez attendre demande demandez demander pause suspends suspendez confirme confirmez '
      + 'continue continuez',
    'de le la les l à au utilisateur réponse sa son avant continuer poursuivre d tout maintenant immédiatement et que qu il réponde '
      + 'confirmation approbation instructions vous tu devez dois doit agent faire ce s plaît plait te ne n pas ici en travail accord des '
      + 'veuillez faut lui',
  ),
  words(
    'praise',
    'bon bonne bien excellent excellente parfait super correct correcte terminé fini beau',
    'travail continue continuez ainsi comme ça tout est semble va le la c l agent a fait jusqu ici très sur voie implémentation cela '
      + 'avance et',
  ),
  words(
    'order',
    'detente detén detenga detener para pare parar espera espere esperar pregunta pregunte preguntar pausa confirma confirme consulta '
      + 'consulte continúes continúe',
    'por favor ahora aquí inmediatamente a al el la usuario respuesta del de antes continuar seguir y todo lo que estás haciendo debes '
      + 'debe agente hasta responda confirmación aprobación instrucciones su con no trabajo primero más se',
  ),
  words(
    'praise',
    'bien bueno buen buena excelente perfecto correcto correcta genial terminado completo listo hecho',
    'trabajo todo está el la se ve parece muy sigue siga así hasta ahora agente va por camino es lo implementación código ha y',
  ),
  words(
    'order',
    'остановись остановитесь остановиться стоп подожди подождите жди ждите дождись дождитесь спроси спросите приостанови приостановите '
      + 'прекрати прекратите уточни уточните продолжай продолжайте',
    'пожалуйста сейчас немедленно у пользователя пользователь пользователю ответа ответ прежде чем продолжать продолжить и не всё все '
      + 'работу агент должен перед тем как до подтверждения подтверждение указаний дальнейших ответит сначала здесь пока что делаешь',
  ),
  words(
    'praise',
    'хорошо отлично отличная хорошая правильно верно молодец готово завершено прекрасно',
    'работа всё все идёт идет по плану продолжай продолжайте в том же духе агент пока выглядит это очень сделано код реализация решение '
      + 'задача',
  ),
]

/** Languages that write without spaces: Chinese, Japanese. */
export const SPACELESS_BARE: readonly Phrases[] = [
  phrases(
    'order',
    '停止 停下来 停下 停一下 停手 停 暂停 等待 等候 等等 等 询问 请示 问 确认 征求 征得 中止 终止 不要继续 别继续',
    '请 先 立即 马上 立刻 现在 你 代理 智能体 应该 应当 必须 需要 要 在 之前 前 继续 进行 再 下一步 用户 的 回复 指示 指令 同意 '
      + '批准 许可 意见 答复 回答 反馈 操作 工作 任务 所有 一切 任何 和 并 且 然后 与 向 跟 让 由 来 决定 之后 后 直到 为止 给出 '
      + '进一步 对 不要 别 做 手头 手上 当前 目前 一下 都 了 吧 就 此 执行 修改 更改 动作 它 他 是否',
  ),
  phrases(
    'praise',
    '很好 不错 做得好 干得好 优秀 完美 正确 没问题 没有问题 没有发现问题 未发现问题 没有发现任何问题 未发现任何问题 顺利 正常 良好 完成 '
      + '可以 符合预期 棒',
    '目前 看起来 看上去 看 来 代理 智能体 的 工作 实现 代码 方案 方法 做法 方向 是 都 已经 已 了 到目前为止 继续 保持 请 非常 一切 '
      + '这 这个 步骤 进展 任务 我 觉得 认为 也 很 整体 总体 修改 测试 通过 所有 全部 结果 做得 干得 得 就 这样 下去',
  ),
  phrases(
    'order',
    '停止 中止 中断 待って 待つ 待機 止まって 止めて やめて 確認 聞いて 尋ねて 相談 続けないで',
    'して ください 下さい する してから べき です ます ユーザー ユーザ の に を が は へ と 返事 返答 回答 指示 許可 承認 '
      + '判断 続行 続ける 前 まで 先 まず すぐ 今 いったん 一旦 作業 すべて 全て 必要 あります ある で そして から もらって それ '
      + 'エージェント',
  ),
  phrases(
    'praise',
    '良い よい いい 良く よく 素晴らしい 順調 問題ありません 問題ない 問題なし 正しい 完了 完璧 うまく',
    'です ます います とても 作業 は が の に この 実装 コード 進んで できて して いる ました 今のところ すべて 全て 引き続き '
      + 'お願いします 見えます 見える ように エージェント いって',
  ),
]
