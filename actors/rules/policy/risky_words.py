"""Words by which a control says that it does what should not be done unasked (E1): data.

`DENYLIST` is S0's list, `denied_by` reads it in eighteen languages. `FINAL` is the wording of what
cannot be taken back, `ICONS` how pictures, classes and file names say the same. The words are told
by `actors/rules/text/phrases.py`, whose marks (`*`, `_`, `^`, `=` and more) are explained there.
Wording is one sign among several: a page may call its button whatever it likes.
"""

from collections.abc import Iterator
from functools import lru_cache

from rutter.actors.rules.text.phrases import Lexicon, folded, lexicon, said_by

__all__ = ["DENYLIST", "FINAL", "ICONS", "denied_by", "said_by"]

# S0's list, word for word.
DENYLIST = (
    "logout",
    "log-out",
    "log out",
    "sign-out",
    "signout",
    "sign out",
    "delete",
    "remove",
    "submit",
    "purchase",
    "buy",
    "payment",
    "checkout",
    "account",
    "settings",
    "preferences",
)
# Which of the rows below a word of that list stands for.
_MEANS = {word: "sign out" if word.endswith("out") else word for word in DENYLIST}
_MEANS["checkout"] = "checkout"

Rows = dict[str, str]

DENIED: dict[str, Rows] = {
    "en": {
        "sign out": """log out | logout | log-out | sign out | signout | sign-out | log off
            | logoff | sign off | logging out | signing out | log me out | sign me out""",
        "delete": "delete | deletes | deleting | deletion",
        "remove": "remove | removes | removing | removal",
        "submit": "submit | submits | submitting | submission",
        "purchase": "purchase | purchases | purchasing",
        "buy": "buy | buys | buying",
        "payment": "payment | payments",
        "checkout": "checkout | check out | checkouts",
        "account": "account | accounts",
        "settings": "settings",
        "preferences": "preferences",
    },
    "de": {
        "sign out": "abmelden | ausloggen | abmeldung | melde mich ab | melden sie sich ab",
        "delete": "löschen | loeschen | löscht | lösche | löschung | gelöscht werden",
        "remove": "entfernen | entferne | entfernt",
        "submit": "absenden | abschicken | einreichen | übermitteln | uebermitteln",
        "purchase": "erwerben | kostenpflichtig bestellen | kauf",
        "buy": "kaufen | kaufe | jetzt kaufen | einkaufen",
        "payment": "zahlung* | bezahlung* | zahlungsart",
        "checkout": "kasse | zur kasse | zur kasse gehen",
        "account": """konto | kontos | konten | benutzerkonto | kundenkonto | nutzerkonto
            | kontoeinstellungen | kontodaten""",
        "settings": "einstellungen | einstellung",
        "preferences": "voreinstellungen | präferenzen | vorlieben",
    },
    "fr": {
        "sign out": """déconnexion | se déconnecter | déconnecter | déconnectez*
            | me déconnecter | fermer la session""",
        "delete": "supprimer | supprimez | suppression | effacer | effacez",
        "remove": "retirer | retirez | enlever | enlevez",
        "submit": "soumettre | soumettez | envoyer",
        "purchase": "achat | achats",
        "buy": "acheter | achetez",
        "payment": "paiement | paiements",
        "checkout": """caisse | passer à la caisse | passer commande | valider la commande
            | valider mon panier""",
        "account": "compte | comptes",
        "settings": "paramètres | réglages",
        "preferences": "préférences",
    },
    "es": {
        "sign out": """cerrar sesión | cerrar la sesión | cierra sesión | desconectar
            | desconectarse | finalizar sesión""",
        "delete": "eliminar | elimina | elimine | eliminación | borrar | borra | suprimir",
        "remove": "quitar | quita | remover",
        "submit": "enviar | someter | presentar solicitud",
        "purchase": "compra | compras | adquirir",
        "buy": "comprar",
        "payment": "pago | pagos",
        "checkout": """finalizar compra | finalizar la compra | tramitar pedido | pasar por caja
            | realizar pedido""",
        "account": "cuenta | cuentas",
        "settings": "configuración | ajustes",
        "preferences": "preferencias",
    },
    "it": {
        "sign out": "disconnetti | disconnettersi | esci | disconnessione | scollegati",
        "delete": "elimina | eliminare | eliminazione | cancella | cancellare",
        "remove": "rimuovi | rimuovere | togli",
        "submit": "invia | inviare | inoltra",
        "purchase": "acquisto | acquisti",
        "buy": "compra | acquista | acquistare | comprare",
        "payment": "pagamento | pagamenti",
        "checkout": "alla cassa | procedi all'ordine | concludi l'ordine | completa l'ordine",
        "account": "account | profilo utente",
        "settings": "impostazioni",
        "preferences": "preferenze",
    },
    "pt": {
        "sign out": "sair | sair da conta | terminar sessão | encerrar sessão | desconectar",
        "delete": "excluir | apagar | eliminar | deletar | exclusão",
        "remove": "remover | retirar | remova",
        "submit": "enviar | submeter",
        "purchase": "compra | adquirir",
        "buy": "comprar | compre",
        "payment": "pagamento | pagamentos",
        "checkout": "finalizar compra | finalizar pedido | fechar pedido | concluir compra",
        "account": "conta | contas",
        "settings": "configurações | definições",
        "preferences": "preferências",
    },
    "nl": {
        "sign out": "uitloggen | afmelden | log uit | meld af | uitlog*",
        "delete": "verwijderen | verwijder | wissen | wis",
        "remove": "weghalen | haal weg",
        "submit": "indienen | verzenden | versturen | verstuur | verzend",
        "purchase": "aankoop | aankopen | aanschaffen",
        "buy": "kopen | koop",
        "payment": "betaling | betalingen | betaalmethode | betaalwijze",
        "checkout": "afrekenen | naar de kassa | kassa",
        "account": "account | accounts | rekening",
        "settings": "instellingen",
        "preferences": "voorkeuren",
    },
    "pl": {
        "sign out": "wyloguj | wyloguj się | wylogowanie",
        "delete": "usuń | usunąć | usuwanie | skasuj | kasuj",
        "remove": "usuń | wyjmij z koszyka",
        "submit": "wyślij | zatwierdź | prześlij",
        "purchase": "zakup | zakupy | zakupu",
        "buy": "kup | kupuję | kupić | kup teraz",
        "payment": "płatność | płatności | zapłata",
        "checkout": "kasa | do kasy | złóż zamówienie | podsumowanie zamówienia",
        "account": "konto | konta | kontem | koncie",
        "settings": "ustawienia | ustawień",
        "preferences": "preferencje | preferencji",
    },
    "sv": {
        "sign out": "logga ut | utloggning",
        "delete": "radera | ta bort | raderar",
        "remove": "avlägsna | ta bort",
        "submit": "skicka | skicka in | lämna in",
        "purchase": "köp | inköp",
        "buy": "köpa | köp nu | handla",
        "payment": "betalning | betalningar | betalsätt | betalningssätt",
        "checkout": "till kassan | kassan | kassa | gå till kassan",
        "account": "konto | kontot | konton | kontoinställningar",
        "settings": "inställningar",
        "preferences": "preferenser",
    },
    "da": {
        "sign out": "log ud | log af | logge ud",
        "delete": "slet | slette | sletning",
        "remove": "fjern | fjerne",
        "submit": "indsend | indsende",
        "purchase": "køb",
        "buy": "køb nu",
        "payment": "betaling | betalinger | betalingsmetode",
        "checkout": "til kassen | gå til kassen | kassen",
        "account": "konto | kontoen | konti | kontoindstillinger",
        "settings": "indstillinger",
        "preferences": "præferencer",
    },
    "tr": {
        "sign out": "çıkış yap | oturumu kapat | çıkış | oturumu sonlandır",
        "delete": "sil | silin | silme | silmek",
        "remove": "kaldır | kaldırın | çıkar",
        "submit": "gönder | gönderin | ilet",
        "purchase": "satın alma | satın alım",
        "buy": "satın al | satın alın | hemen al",
        "payment": "ödeme | ödemeler | ödemeyi | ödemeye",
        "checkout": "ödemeye geç | kasaya git | sepeti onayla | siparişi tamamla",
        "account": "hesap | hesabım | hesabı | hesaplar | hesabınız | hesabımı",
        "settings": "ayarlar | ayarları",
        "preferences": "tercihler | tercihleri",
    },
    "cs": {
        "sign out": "odhlásit | odhlásit se | odhlášení",
        "delete": "smazat | smaž | vymazat | smazání",
        "remove": "odstranit | odebrat | odstranění",
        "submit": "odeslat | odešli | podat žádost",
        "purchase": "nákup | zakoupit",
        "buy": "koupit | kup | koupit nyní",
        "payment": "platba | platby | platbu",
        "checkout": "pokladna | k pokladně | do pokladny | dokončit objednávku",
        "account": "účet | účtu | účty | uživatelský účet",
        "settings": "nastavení",
        "preferences": "předvolby",
    },
    "ru": {
        "sign out": "выйти | выход | выйти из системы | разлогиниться",
        "delete": "удалить | удали | удаление | удалите | стереть",
        "remove": "убрать | уберите | исключить",
        "submit": "отправить | отправьте | подать | подать заявку",
        "purchase": "покупка | приобрести | покупку",
        "buy": "купить | купите | покупать",
        "payment": "оплата | оплату | платёж | платежи | оплаты | оплате",
        "checkout": "оформить заказ | оформление заказа | перейти к оплате | к оформлению",
        "account": "аккаунт* | учётная запись | учётную запись | учётной записи | личный кабинет",
        "settings": "настройки | настроек",
        "preferences": "предпочтения | параметры",
    },
    "uk": {
        "sign out": "вийти | вихід | вийти з системи",
        "delete": "видалити | видалення | видаліть | стерти",
        "remove": "прибрати | вилучити | приберіть",
        "submit": "надіслати | відправити | подати | подати заявку",
        "purchase": "покупка | придбати | покупку",
        "buy": "купити | купуйте",
        "payment": "оплата | оплату | платіж | платежі",
        "checkout": "оформити замовлення | оформлення замовлення | перейти до оплати",
        "account": "акаунт* | обліковий запис | облікового запису | кабінет",
        "settings": "налаштування",
        "preferences": "параметри | уподобання",
    },
    "ja": {
        "sign out": "ログアウト | サインアウト | ログオフ",
        "delete": "削除 | 消去",
        "remove": "取り除く | 取り外す | 除去",
        "submit": "送信 | 提出",
        "purchase": "購入",
        "buy": "買う | お買い上げ",
        "payment": "支払 | 決済 | お支払い",
        "checkout": "レジに進む | 購入手続き | 注文手続き | ご注文手続き",
        "account": "アカウント",
        "settings": "設定",
        "preferences": "環境設定",
    },
    "zh": {
        "sign out": "退出登录 | 登出 | 注销 | 退出登錄 | 退出账号 | 登出帳號",
        "delete": "删除 | 刪除",
        "remove": "移除 | 去除 | 移出",
        "submit": "提交 | 送出",
        "purchase": "购买 | 購買 | 选购",
        "buy": "立即购买 | 购买 | 買",
        "payment": "支付 | 付款 | 缴费",
        "checkout": "结账 | 結帳 | 结算 | 結算",
        "account": "账户 | 帐户 | 账号 | 帐号 | 帳戶 | 帳號",
        "settings": "设置 | 設置 | 设定 | 設定",
        "preferences": "偏好",
    },
    "ko": {
        "sign out": "로그아웃 | 로그 아웃",
        "delete": "삭제 | 지우기",
        "remove": "제거",
        "submit": "제출",
        "purchase": "구매 | 구입",
        "buy": "바로구매 | 바로 구매",
        "payment": "결제 | 지불",
        "checkout": "주문하기 | 결제하기",
        "account": "계정",
        "settings": "설정",
        "preferences": "환경설정",
    },
    "ar": {
        "sign out": "تسجيل الخروج | تسجيل خروج",
        "delete": "حذف | احذف | مسح",
        "remove": "إزالة | أزل",
        "submit": "تقديم | إرسال",
        "purchase": "شراء",
        "buy": "اشتر | اشتري",
        "payment": "الدفع | دفع | مدفوعات",
        "checkout": "إتمام الشراء | إتمام الطلب | الدفع الآن",
        "account": "حساب | الحساب",
        "settings": "إعدادات | الإعدادات",
        "preferences": "تفضيلات",
    },
}
# Not what they sound like.
NOT_DENIED = """check out our | check out the | check out this | check out these | check out what
    | check out how | check out more | on account of | into account | no account | buy side
    | submission guidelines | submission date | payment due"""

FINAL_WORDS: dict[str, str] = {
    "en": """pay | pays | paying | ^order | place the order | complete order | complete my order
        | complete the order | finish order | send order | submit order | order and pay | confirm
        | confirms | confirmed purchase | confirming | confirmation | cancel _ | cancellation
        | finish cancellation | end membership | end subscription | end plan | end my _ | end trial
        | end service | end contract | end auction | stop subscription | stop auto renewal
        | turn off auto renew* | ^send | send now | send message | send email | send money
        | send invite* | send request | send it | ^resend | ^reply | reply all | ^forward | publish
        | publishes | publishing | unpublish | go live | make public | ^transfer | transfer money
        | transfer funds | transfer ownership | transfer now | wire money | remit | approve
        | approves | approving | disapprove | accept | accepts | accepting | decline | reject
        | agree | i agree | consent | ^sign | sign now | sign document | sign contract | sign here
        | sign and _ | e sign | esign | countersign | unsubscribe | opt out | deactivate | disable
        | deregister | unregister | unlink | disconnect | revoke | close account | close my account
        | close your account | close the account | close this account | close issue | close ticket
        | close position | close pull request | close case | erase | wipe | purge | destroy
        | drop table | drop database | discard | empty trash | empty bin | empty cart | empty _
        | clear all | clear history | clear data | clear cart | clear everything | move to trash
        | move to bin | shred | overwrite | replace all | reset | format disk | format drive
        | factory reset | rollback | roll back | revert | restore backup | terminate | ^end call
        | leave group | leave team | leave organization | leave organisation | leave project
        | leave meeting | quit membership | ^quit | ^book | book now | book it | rebook | ^reserve
        | reserve now | donate | donates | donating | make a donation | give now | ^bid | bid now
        | place bid | place a bid | place your bid | withdraw | withdrawal | sell now | redeem
        | subscribe | subscribe now | start subscription | start membership | start trial
        | start free trial | start my _ | downgrade | renew | renew now | ^invite | invite people
        | invite member* | invite friend* | invite user* | ^share | share now | share with _
        | ^upload | upload file* | upload photo* | upload document* | ^post | post comment
        | post reply | post now | post job | post ad | post it | repost | ^tweet | retweet
        | ^comment | like and share | deploy | deploys | redeploy | release now | ^release | ^merge
        | merge pull request | merge branch | squash and merge | force push | ^push | restart
        | reboot | shut down | shutdown | power off | turn off server | stop server | stop instance
        | ^stop service | run job | ^run now | ^execute | ^launch | ^ban | ban user | ^block
        | block user | block contact | ^unfollow | unfriend | report abuse | report user
        | ^report spam | grant access | grant permission | make admin | make owner
        | change password | change email | change plan | change owner | switch plan | delete
        | remove | finalize | finalise | finalize order | authorize | authorise | allow access
        | refund | issue refund | dispatch | ^ship now | file claim | file return | cast vote
        | cast ballot | ^enroll | ^enrol | ^apply now | submit | sign up | ^register | ^join now
        | hand in | turn in | ^checkout | proceed to pay* | archive all | ^install | ^uninstall
        | request refund | request callback | ^call now | ^export data | log out all
        | sign out everywhere | yes _ | resubscribe | reinstate | reactivat*
        | stop automatic renewal | pause membership | pause subscription | pause my _
        | resume membership | resume subscription | suspend | reinstall | add seats | take this _
        | apply discount | =yes | =yeah | =yep | =finish | =complete | =proceed | =go ahead
        | =do it | =ok do it | =okay do it | =just do it | =let's do it | =complete now
        | =finish now | =finish and close | !pay now | !place order | !place your order
        | !place my order | !buy now | !buy it now | !order now | !confirm and pay
        | !delete my account | !delete account | !cancel my subscription | and send | and post
        | and order | and book | =tip | tip now | leave a tip | send tip | add tip | tip 0 | ^claim
        | ^charge | ^vote | ^deposit | ^invest | invest now | ^upgrade | upgrade now | ^sell
        | quick sell | market sell | instant sell | ^kill | =fire | fire employee* | =hire
        | hire now | hire me | hire this _ | =trade | trade now | trade in""",
    "de": """bezahlen | zahlen | jetzt zahlen | zahlungspflichtig | kostenpflichtig | bestellen
        | jetzt bestellen | bestellung aufgeben | bestellung abschließen | bestellung absenden
        | bestätigen | bestätige | bestätigung | kündigen | kündige | kündigung | jetzt kündigen
        | stornieren | storno | stornierung | abbestellen | senden | sende | versenden | abschicken
        | absenden | veröffentlichen | überweisen | überweisung | überweisung ausführen
        | genehmigen | freigeben | freigabe | akzeptieren | annehmen | ablehnen | zustimmen
        | ich stimme zu | einverstanden | einwilligen | unterschreiben | unterzeichnen | signieren
        | abonnieren | abo abschließen | abo beenden | mitgliedschaft beenden | vertrag beenden
        | deaktivieren | konto schließen | konto auflösen | zurücksetzen | leeren
        | papierkorb leeren | vernichten | verwerfen | widerrufen | beenden | buchen | jetzt buchen
        | verbindlich buchen | reservieren | spenden | bieten | gebot abgeben | abheben | auszahlen
        | auszahlung | einladen | teilen | hochladen | posten | beitrag posten | bereitstellen
        | zusammenführen | neu starten | neustart | neustarten | herunterfahren | ausschalten
        | verkaufen | einlösen | registrieren | abstimmen | verlängern | blockieren | sperren
        | austreten | verlassen | einreichen | ausführen | beantragen | jetzt beantragen
        | unwiderruflich | endgültig | löschen | kommentieren | antworten | trennen | abschließen
        | reaktivieren | pausieren | tarif wechseln | =ja | =fertigstellen | =fortfahren
        | =fertig stellen | =vollenden | ja _ | !jetzt kaufen | !zahlungspflichtig bestellen
        | !kostenpflichtig bestellen | !jetzt bezahlen | ich zahle""",
    "fr": """payer | payez | régler | commander | commandez | passer commande | passer la commande
        | valider la commande | confirmer | confirmez | confirmation | valider | validez
        | annuler _ | résilier | résiliez | résiliation | mettre fin | envoyer | envoyez | publier
        | publiez | virer | effectuer un virement | effectuer le virement | transférer | transférez
        | approuver | approuvez | accepter | acceptez | j'accepte | refuser | refusez | signer
        | signez | se désabonner | désabonner | désinscrire | désactiver | désactivez
        | fermer le compte | fermer mon compte | clôturer | vider | réinitialiser | réinitialisez
        | réserver | réservez | faire un don | donner maintenant | je donne | enchérir
        | placer une enchère | retirer | inviter | invitez | partager | partagez | téléverser
        | télécharger un fichier | poster | déployer | fusionner | redémarrer | éteindre
        | s'abonner | abonnez vous | souscrire | vendre | s'inscrire | voter | renouveler | bloquer
        | quitter le groupe | révoquer | autoriser | définitivement | détruire | terminer
        | finaliser | réactiver | suspendre | mettre en pause | je suis d'accord | déposer
        | répondre | =oui | =procéder | =achever | oui _ | !payer maintenant | !acheter maintenant
        | commander en | commander et | commander 0 | signer et | signer un | poster un""",
    "es": """pagar | paga | pague | pedir ahora | hacer pedido | hacer el pedido | realizar pedido
        | realizar el pedido | confirmar | confirma | confirme | confirmación | cancelar _
        | dar de baja | darme de baja | darse de baja | anular | enviar | envía | envíe | publicar
        | publica | transferir | transferencia | aprobar | aceptar | acepto | acepte | rechazar
        | estoy de acuerdo | firmar | firme aquí | desuscribir* | cancelar suscripción | desactivar
        | cerrar cuenta | cerrar la cuenta | cerrar mi cuenta | vaciar | restablecer | reiniciar
        | terminar | finalizar | reservar | reserva ahora | reserve ahora | donar | dona | pujar
        | ofertar | retirar fondos | retirar dinero | retirar | invitar | invita | compartir
        | comparte | subir archivo | subir | cargar archivo | desplegar | implementar ahora
        | fusionar | apagar | suscribirse | suscríbete | suscribirme | vender | canjear
        | registrarse | votar | renovar | bloquear | revocar | autorizar | definitivamente
        | destruir | responder | comentar | solicitar | contratar | reactivar | suspender | =sí
        | =proceder | =completar | !pagar ahora | !comprar ahora | responder a | responder al""",
    "it": """paga | pagare | ordina | ordina ora | invia ordine | effettua ordine | conferma
        | confermare | annulla _ | disdici | disdire | disdetta | recedere | invia | inviare
        | pubblica | pubblicare | trasferisci | bonifico | effettua bonifico | approva | approvare
        | accetta | accettare | accetto | rifiuta | acconsento | sono d'accordo | firma | firmare
        | annulla iscrizione | disiscriviti | disattiva | disattivare | chiudi account
        | chiudi conto | svuota | svuotare | ripristina | reimposta | azzera | termina | terminare
        | prenota | prenotare | dona | donare | fai un'offerta | preleva | prelevare | invita
        | invitare | condividi | condividere | carica file | carica | distribuisci | unisci
        | riavvia | spegni | abbonati | iscriviti | sottoscrivi | vendi | riscatta | registrati
        | vota | rinnova | blocca | revoca | autorizza | definitivamente | distruggi | rispondi
        | commenta | completa | concludi | =sì | =procedi | =completare | !paga ora
        | !acquista ora""",
    "pt": """pagar | pague | pedir agora | fazer pedido | fazer o pedido | encomendar | confirmar
        | confirme | cancelar _ | rescindir | enviar | envie | publicar | publique | transferir
        | transferência | aprovar | aceitar | aceito | aceite | recusar | rejeitar | concordo
        | concordar | assinar | assine | cancelar inscrição | desinscrever | desativar
        | encerrar conta | encerrar | fechar conta | esvaziar | redefinir | repor | reiniciar
        | terminar | finalizar | reservar | reserve agora | doar | doe | dar lance | fazer lance
        | sacar | levantar dinheiro | convidar | convide | compartilhar | partilhar
        | carregar arquivo | carregar ficheiro | fazer upload | postar | implantar | mesclar
        | desligar | inscrever se | vender | resgatar | registrar se | votar | renovar | bloquear
        | revogar | autorizar | definitivamente | destruir | responder | comentar | contratar
        | solicitar | concluir | =sim | =prosseguir | =completar | sim _ | !pagar agora
        | !comprar agora | repor senha | responder a | responder ao""",
    "nl": """betalen | betaal | bestellen | bestel | bestel nu | bestelling plaatsen | bevestigen
        | bevestig | bevestiging | annuleren _ | annuleer | opzeggen | opzegging | zeg op
        | verzenden | verzend | versturen | verstuur | stuur | publiceren | publiceer | overmaken
        | overboeken | maak over | goedkeuren | keur goed | accepteren | accepteer | weigeren
        | akkoord | ga akkoord | ondertekenen | onderteken | teken | uitschrijven | schrijf uit
        | afmelden | deactiveren | account sluiten | leegmaken | leeg | resetten | reset
        | herstellen | beëindigen | beëindig | boek nu | boek | reserveren | reserveer | doneren
        | doneer | bieden | bod plaatsen | opnemen | uitnodigen | nodig uit | delen | deel
        | uploaden | upload | posten | implementeren | samenvoegen | herstarten | opnieuw opstarten
        | afsluiten | uitschakelen | abonneren | abonneer | verkopen | inwisselen | registreren
        | stemmen | verlengen | blokkeren | intrekken | definitief | vernietigen | beantwoorden
        | aanvragen | inleveren | =voltooien | =voltooi | =afronden | =rond af | !nu betalen
        | !nu kopen | nu boeken | direct boeken | reis boeken | boeken en betalen
        | reactie plaatsen | bericht plaatsen | advertentie plaatsen""",
    "pl": """zapłać | zapłacić | opłać | zamawiam | zamów | zamów teraz | złóż zamówienie
        | kupuję i płacę | potwierdź | potwierdzam | potwierdzić | anuluj _ | zrezygnuj | rezygnuję
        | wypowiedz | wyślij | wysłać | opublikuj | przelej | wykonaj przelew | zrób przelew
        | przenieś środki | zatwierdź | zaakceptuj | akceptuję | akceptuj | odrzuć | zgadzam się
        | wyrażam zgodę | podpisz | wypisz się | anuluj subskrypcję | dezaktywuj | zamknij konto
        | wyczyść | opróżnij | zresetuj | resetuj | zakończ | rozwiąż umowę | zarezerwuj | rezerwuj
        | rezerwuję | wesprzyj | przekaż darowiznę | wpłać | licytuj | złóż ofertę | wypłać
        | zaproś | udostępnij | prześlij plik | prześlij | wgraj | wdróż | scal | uruchom ponownie
        | wyłącz | subskrybuj | sprzedaj | zarejestruj się | zagłosuj | głosuj | przedłuż | odnów
        | zablokuj | odwołaj | trwale | zniszcz | odpowiedz | skomentuj | sfinalizuj | =tak
        | =dokończ | tak _ | !zapłać teraz | !kup teraz | płacę teraz | zamawiam i płacę""",
    "sv": """betala | beställ | beställa | lägg beställning | slutför köp | slutför | bekräfta
        | bekräftar | avbryt _ | avbeställ | avboka | säg upp | uppsägning | skicka | publicera
        | överför | föra över | överföring | godkänn | godkänna | acceptera | accepterar | avvisa
        | samtycker | jag godkänner | signera | skriv under | underteckna | avprenumerera
        | avsluta prenumeration* | avsluta | inaktivera | stäng konto | återställ | nollställ
        | boka | boka nu | reservera | donera | skänk | lägg bud | buda | ta ut | uttag | bjud in
        | dela | ladda upp | posta | driftsätt | slå samman | starta om | stäng av | prenumerera
        | sälj | lös in | registrera | rösta | förnya | blockera | återkalla | förstör | svara
        | kommentera | ansök | =fullfölj | =färdigställ | !betala nu | !köp nu | töm papperskorg*
        | töm korgen | töm varukorg* | töm allt | töm alla | töm nu""",
    "da": """betal | betale | bestil | bestille | afgiv ordre | gennemfør køb | gennemfør | bekræft
        | bekræfte | annuller _ | afbestil | opsig | opsige | opsigelse | send | sende | udgiv
        | offentliggør | overfør | overførsel | godkend | godkende | accepter | acceptér
        | acceptere | afvis | jeg accepterer | samtykke | underskriv | signer | afmeld | frameld
        | deaktiver | luk konto | nulstil | afslut | book nu | reserver | reservér | doner | donér
        | giv bud | byd | hæv | udbetal | inviter | invitér | =del | upload | slå op | implementer
        | flet | genstart | sluk | abonner | abonnér | tilmeld | sælg | indløs | registrer | stem
        | forny | bloker | tilbagekald | ødelæg | svar | ansøg | =fuldfør | !betal nu | !køb nu
        | tøm papirkurv* | tøm kurv* | tøm alt | tøm alle""",
    "tr": """öde | ödeme yap | şimdi öde | ödemeyi tamamla | sipariş ver | siparişi onayla
        | siparişi tamamla | onayla | onaylıyorum | doğrula | iptal et | aboneliği iptal*
        | aboneliği bitir | siparişi iptal* | rezervasyonu iptal* | gönder | yayınla | yayımla
        | havale yap | transfer et | para gönder | kabul et | kabul ediyorum | reddet | katılıyorum
        | imzala | abonelikten çık | devre dışı bırak | hesabı kapat | hesabımı kapat | boşalt
        | temizle | sıfırla | sonlandır | bitir | rezervasyon yap | rezerve et | bağış yap
        | bağışla | teklif ver | para çek | davet et | paylaş | yükle | karşıya yükle | dağıt
        | birleştir | yeniden başlat | abone ol | kullan | kaydol | kayıt ol | oy ver | engelle
        | kalıcı olarak | yok et | yanıtla | başvur | =evet | =tamamla | =devam et | evet _
        | !hemen al | hemen sat | şimdi sat | ürünü sat | aboneliği yenile | üyeliği yenile""",
    "cs": """zaplatit | zaplať | uhradit | objednat | objednávám | odeslat objednávku
        | dokončit objednávku | dokončit | potvrdit | potvrzuji | zrušit _ | vypovědět | výpověď
        | odeslat | poslat | publikovat | zveřejnit | převést | převod | schválit | přijmout
        | souhlasím | odmítnout | podepsat | odhlásit odběr | deaktivovat | zrušit účet
        | vyprázdnit | resetovat | obnovit | ukončit | rezervovat | zarezervovat | darovat
        | přihodit | podat nabídku | vybrat peníze | výběr | pozvat | sdílet | nahrát
        | přidat příspěvek | nasadit | sloučit | restartovat | vypnout | předplatit | odebírat
        | prodat | uplatnit | registrovat | hlasovat | prodloužit | zablokovat | odvolat | trvale
        | zničit | odpovědět | požádat | =ano | =dokonči | ano _""",
    "ru": """оплатить | оплачиваю | заплатить | платить | заказать | сделать заказ | оформить
        | подтвердить | подтверждаю | подтвердите | отменить _ | расторгнуть | отправить | послать
        | опубликовать | перевести | перевод средств | перечислить | одобрить | утвердить | принять
        | принимаю | отклонить | согласен | согласна | соглашаюсь | подписать | отписаться
        | отказаться | деактивировать | закрыть счёт | закрыть аккаунт | очистить | опустошить
        | сбросить | прекратить | завершить | забронировать | бронировать | зарезервировать
        | пожертвовать | сделать ставку | вывести средства | снять деньги | вывести | пригласить
        | поделиться | загрузить | выложить | развернуть | объединить | перезапустить
        | перезагрузить | выключить | подписаться | продать | активировать | зарегистрироваться
        | проголосовать | продлить | заблокировать | отозвать | навсегда | безвозвратно
        | уничтожить | ответить | подать | =да | да _""",
    "uk": """сплатити | оплатити | заплатити | замовити | зробити замовлення | оформити
        | підтвердити | підтверджую | скасувати _ | розірвати | надіслати | відправити
        | опублікувати | переказати | переказ | схвалити | затвердити | прийняти | приймаю
        | відхилити | погоджуюсь | погоджуюся | згоден | згодна | підписати | відписатися
        | відмовитися | деактивувати | закрити рахунок | очистити | скинути | припинити | завершити
        | забронювати | зарезервувати | пожертвувати | зробити ставку | вивести кошти | зняти гроші
        | запросити | поділитися | завантажити файл | розгорнути | об'єднати | перезапустити
        | перезавантажити | вимкнути | підписатися | продати | зареєструватися | проголосувати
        | продовжити підписку | заблокувати | відкликати | назавжди | знищити | відповісти | =так
        | так _""",
    "ja": """支払う | 支払い | お支払い | 注文する | 注文を確定 | 注文確定 | 購入する | 今すぐ購入
        | 確定 | 確認する | 解約 | 退会 | キャンセルする | をキャンセル | 送信 | 送る | 公開 | 投稿
        | 振込 | 振り込む | 送金 | 承認 | 承諾 | 同意 | 受け入れる | 拒否 | 署名 | 配信停止
        | 購読解除 | 登録解除 | 無効化 | 無効にする | 消去 | 初期化 | リセット | 終了する
        | 予約する | 予約を確定 | 今すぐ予約 | 寄付 | 入札 | 出金 | 引き出す | 招待 | 共有
        | アップロード | デプロイ | マージ | 再起動 | シャットダウン | 申し込む | 申込 | 登録する
        | 売る | 投票 | 更新する | ブロックする | 取り消す | 完全に削除 | 空にする | 返信する
        | 申請 | =はい | =完了 | 完了する | =実行 | 実行する""",
    "zh": """支付 | 付款 | 立即付款 | 下单 | 下單 | 提交订单 | 提交訂單 | 立即订购 | 确认 | 確認
        | 取消订阅 | 取消訂閱 | 取消订单 | 取消訂單 | 取消会员 | 取消預訂 | 取消预订 | 退订 | 退訂
        | 发送 | 發送 | 傳送 | 发布 | 發布 | 发表 | 轉帳 | 转账 | 汇款 | 匯款 | 批准 | 审批 | 接受
        | 同意 | 拒绝 | 拒絕 | 签署 | 簽署 | 签字 | 停用 | 注销 | 关闭账户 | 關閉帳戶 | 清空 | 清除
        | 擦除 | 重置 | 重設 | 终止 | 終止 | 预订 | 預訂 | 预约 | 預約 | 捐款 | 捐赠 | 捐贈 | 出价
        | 出價 | 提现 | 提現 | 取款 | 邀请 | 邀請 | 分享 | 共享 | 上传 | 上傳 | 部署 | 合并 | 合併
        | 重启 | 重啟 | 关机 | 订阅 | 訂閱 | 出售 | 卖出 | 兑换 | 注册 | 投票 | 续费 | 屏蔽 | 封锁
        | 撤销 | 永久 | 销毁 | 报名 | 申请 | 申請 | =是 | =是的 | =完成 | =执行 | =執行""",
    "ko": """결제 | 지불 | 주문하기 | 주문 확정 | 주문 완료 | 확인하기 | 확정 | 구독 취소
        | 주문 취소 | 예약 취소 | 해지 | 탈퇴 | 보내기 | 전송 | 발송 | 게시 | 발행 | 송금 | 이체
        | 승인 | 수락 | 동의 | 거절 | 거부 | 서명 | 구독 해지 | 비활성화 | 계정 닫기 | 비우기
        | 초기화 | 재설정 | 종료 | 예약하기 | 예약 확정 | 기부 | 입찰 | 출금 | 인출 | 초대 | 공유
        | 업로드 | 배포 | 병합 | 다시 시작 | 재시작 | 전원 끄기 | 구독하기 | 판매하기 | 가입하기
        | 투표하기 | 갱신하기 | 차단 | 철회 | 영구 | 신청하기 | =예 | =네 | =완료 | 완료하기
        | =진행""",
    "ar": """ادفع | الدفع | سداد | اطلب الآن | تأكيد | أكد | إلغاء الاشتراك | إلغاء الطلب
        | إلغاء الحجز | إلغاء العضوية | إرسال | أرسل | نشر | انشر | تحويل | حوالة | موافقة | أوافق
        | موافق | قبول | اقبل | رفض | توقيع | وقع | تعطيل | إغلاق الحساب | إفراغ | تفريغ
        | إعادة تعيين | إعادة ضبط | إنهاء | احجز | حجز | تبرع | مزايدة | سحب | دعوة | ادع | مشاركة
        | شارك | رفع ملف | تحميل ملف | دمج | إعادة تشغيل | إيقاف التشغيل | اشترك | اشتراك | بيع
        | استرداد | تصويت | تجديد | حظر | نهائي | تدمير | =نعم | =إكمال | =إتمام | =متابعة""",
}
# Beside the wording above: what is read, looked at, sorted or left.
NOT_FINAL = """how to _ | how do i _ | how can i _ | cancellation letter | letter of cancellation
    | bestätigung herunterladen | cancel search | cancel edit* | cancel reply | cancel selection
    | cancel and return | cancel and go back | cancel and close | cancel changes | cancel filter*
    | order history | order status | order number | order details | order detail | order by
    | order id | order summary | order date | order total | order confirmation | order list
    | order form | order book | order tracking | order lookup | order of | order from
    | book review* | book club | book list | book details | book cover | book of | book series
    | book store | book shop | book author* | post details | post title | post date | post office
    | post code | post archive | post by | post list | post a | posts | send date | sender
    | share price | share prices | share capital | share of | reserve price | reserve list
    | reserve bank | transfer student* | sign in | sign language | sign up for free guide | signs
    | sign on with | sign out | upload date | upload history | upload speed | release notes
    | release date | release history | release schedule | releases | merge history | merge sort
    | confirmation number | confirmation email | confirmation code | cancellation policy
    | cancellation terms | acceptance | accepted | comment count | comments | push notifications
    | install guide | launch date | report | block list | block explorer | charge history
    | claim history | refund policy | withdrawal history | tip of _ | tips | pay scale | pay grade
    | pay period | pay stub* | pay slip* | payroll | invite code | registered | empty state
    | empty list | restart tour | transfer history | transfer limits | transfers
    | subscribe to calendar | upgrade guide | reset filter* | reset search | reset zoom
    | reset view | reset sort* | clear filter* | clear search | bid history | forward to _ page
    | kill bill | end date | 確認画面 | 送信済み | 送信履歴 | 确认单 | 已发送 | 分享会 | 공유기
    | 결제 내역 | 支付记录 | order # | order 0 | order no | book # | book 0 | release # | release 0
    | post # | post 0 | block # | block 0 | comment # | comment 0 | transfer # | trade # | bid #
    | claim # | charge # | refund # | confirmation # | invite # | deposit # | withdrawal #
    | share # | vote # | tip jar | deposit box* | deposit slip* | deposit history | deposit rate*
    | deposit account* | charge cable* | charge port* | charge time* | charge point* | vote result*
    | vote count* | vote share | trade fair* | block of | sign shop* | sign of | reserve wine*
    | launch pad* | push pin* | share certificate* | transfer paper | forward gear | paying guest*
    | reset button | transfer fee* | transfer news | transfer window | upgrade path* | claim form*
    | book fair* | ship model* | ordina per"""
# What a banner about cookies says: whichever it is, it is asked again when they are cleared.
COOKIES = """=accept all | =reject all | =decline all | =deny all | =accept all and close
    | accept all cookies | accept cookies | accept the cookies | reject all cookies
    | reject cookies | decline cookies | decline all cookies | accept necessary | accept only
    | accept essential | accept selected | reject optional | reject non | reject additional
    | accept additional | accept optional | accept recommended | accept and continue
    | accept and close | agree and continue | agree and close | agree and proceed | agree to all
    | agree to cookies | consent to cookies | cookie consent | manage consent
    | continue without accepting | reject and close | accept selection | accept analytics
    | accept tracking | reject tracking | disable cookies | =alle akzeptieren | =alle ablehnen
    | =alles akzeptieren | =alles ablehnen | cookies akzeptieren | cookies ablehnen
    | cookies annehmen | cookies zustimmen | =allen zustimmen | =allem zustimmen
    | =auswahl bestätigen | auswahl akzeptieren | akzeptieren und schließen
    | akzeptieren und weiter | zustimmen und weiter | zustimmen und schließen
    | einverstanden und weiter | notwendige akzeptieren | =tout accepter | =tout refuser
    | =tout rejeter | =accepter tout | =refuser tout | accepter les cookies | accepter tous
    | refuser tous | refuser les cookies | accepter et continuer | accepter et fermer
    | continuer sans accepter | j'accepte tout | =j'accepte les cookies | =aceptar todo
    | =aceptar todas | =rechazar todo | =rechazar todas | =aceptar todos | aceptar cookies
    | aceptar las cookies | aceptar todas las cookies | rechazar cookies | rechazar las cookies
    | rechazar todas las cookies | aceptar y continuar | aceptar y cerrar | continuar sin aceptar
    | aceptar selección | =accetta tutti | =accetta tutto | =rifiuta tutti | =rifiuta tutto
    | accetta i cookie | accetta cookie | accetta tutti i cookie | rifiuta i cookie
    | rifiuta tutti i cookie | accetta e continua | accetta e chiudi | continua senza accettare
    | accetta selezionati | =aceitar tudo | =aceitar todos | =rejeitar tudo | =rejeitar todos
    | =recusar tudo | =recusar todos | aceitar cookies | aceitar os cookies
    | aceitar todos os cookies | rejeitar cookies | recusar cookies | aceitar e continuar
    | aceitar e fechar | continuar sem aceitar | =alles accepteren | =alles weigeren
    | =alles afwijzen | =alle accepteren | cookies accepteren | cookies weigeren
    | accepteer cookies | accepteer alle cookies | =accepteer alles | =accepteer alle
    | =weiger alles | =weiger alle | =akkoord en doorgaan | accepteren en doorgaan
    | accepteren en sluiten | =zaakceptuj wszystkie | =akceptuj wszystkie | =odrzuć wszystkie
    | =zaakceptuj wszystko | =akceptuj wszystko | =odrzuć wszystko | akceptuj pliki cookie
    | akceptuję i przechodzę | akceptuj pliki | zaakceptuj pliki | odrzuć pliki | =akceptuj cookies
    | =acceptera alla | =acceptera alla cookies | =acceptera kakor | =avvisa alla | =godkänn alla
    | =godkänn alla cookies | =godkänn alla kakor | acceptera cookies | avvisa cookies
    | godkänn kakor | =accepter alle | =accepter alle cookies | =afvis alle | =afvis alle cookies
    | =acceptér alle | =godkend alle | =tillad alle | accepter cookies | afvis cookies
    | =tümünü kabul et | =tümünü reddet | =hepsini kabul et | =hepsini reddet | çerezleri kabul et
    | çerezleri reddet | =přijmout vše | =odmítnout vše | =přijmout všechny | =odmítnout všechny
    | přijmout cookies | přijmout všechny cookies | odmítnout cookies | =souhlasím se vším
    | =принять все | =отклонить все | =принять всё | =отклонить всё | принять cookie*
    | принять все cookie* | отклонить все cookie* | =принять файлы cookie | =прийняти всі
    | =відхилити всі | =прийняти все | =відхилити все | прийняти всі cookie* | すべて受け入れる
    | すべて同意 | すべて拒否 | すべて承認 | 全て同意 | 全て拒否 | 全て承認
    | すべてのcookieを受け入れる | cookieを拒否 | cookieに同意 | すべてのcookieを拒否 | 全部接受
    | 接受全部 | 接受所有 | 全部拒绝 | 拒绝全部 | 拒绝所有 | 全部同意 | 同意全部 | 接受cookie
    | 接受 cookie | 拒绝cookie | 全部拒絕 | 拒絕全部 | 拒絕所有 | 全部允許 | 모두 수락 | 모두 동의
    | 모두 거부 | 모두 거절 | 전체 동의 | 쿠키 수락 | 쿠키 거부 | 쿠키 동의 | قبول الكل | رفض الكل
    | قبول جميع | رفض جميع | قبول ملفات | رفض ملفات"""

# A short word of one language is a name, a day or a thing in another, once case and accents are
# gone (Tom, Sat, Kobe, Jane Doe). It counts as all that is said, and beside these of its language.
BESIDE = {
    "de": "jetzt | hier | konto | alle | alles",
    "fr": "maintenant | ici | le | la | les | mon | ma | mes | par | avec | 0",
    "es": "ahora | ya | aquí | con | el | mi | tu | cuenta | todo | 0",
    "it": "ora | subito | adesso | qui | il | con | tutto | tutti | ordine | 0",
    "pt": "agora | já | aqui | com | sua | seu | minha | meu | conta | tudo",
    "nl": "nu | hier | je | uw | jouw | mijn | het | alles | een | bestand",
    "pl": "teraz | konto | bilet* | online",
    "sv": "nu | här | konto | med | din | ditt | mina | alla | allt | biljett* | bord | tid | rum",
    "da": "nu | konto | min | mit | din | dit | med | alle | alt | abonnement | ordre | besked",
    "tr": "şimdi | hemen | hesabı | tümünü | kaydı | ürünü | mesajı | siparişi | seçilenleri",
    "cs": "nyní | teď | hned | účet | vše",
}
# Longer ones that are another word elsewhere.
TWO_MEANINGS = """poster | commander | signer | posten | upload | carica | implementer | opnemen
    | remover | responder | suspender | régler"""
# Short ones that are nothing else.
ONE_MEANING = """pagar | pagos | pago | payez | paga | pague | betal | usuń | smaž | fjern | zamów
    | opłać | opsig | udgiv | afvis | sälj | sælg | kaufe | votar | forny | wgraj | wdróż | konto
    | konti | konta | hesap | ödeme | účet | účtu | účty | çıkış | çıkar | kopen | kupić | slet
    | køb | yükle | bitir | dağıt | kasuj | wpłać | odnów | zakup | nákup | ansök | ansøg | uttag
    | hæv | inköp | pujar | envía | borra | invia | togli | vendi | esci | doar"""
SHORT = 5

# How a line begins that says what a control does, be it ever so long.
OPENERS = """yes | please | click | tap | press | i | my | now | ok | okay | continue | secure | ja
    | bitte | ich | mein | meine | jetzt | oui | je | mon | ma | sí | quiero | mi | sim | quero
    | io | voglio | mijn | ik | nu | tak | chcę | moje | min | mitt | mina | jag | jeg | evet
    | hesabımı | ano | chci | да | я | мой | мою | так"""
# What two doings are joined by: "save and send".
JOINTS = "and | und | et | y | e | en | och | og | ve | и | та | then | dann"

ICON_WORDS = """trash* | bin | dustbin | waste | wastebasket | wastebin | garbage | rubbish
    | recycle bin | delete | remove | removal | eraser | erase | clear all | backspace | shredder
    | skull* | bomb | nuke | destroy | purge | minus circle | circle minus | user minus
    | user times | user xmark | user slash | person remove | person dash | person x | folder delete
    | folder minus | file minus | cart remove | cart x | cart dash | cart minus | bag dash | bag x
    | playlist remove | danger | destructive | irreversible | sign out* | signout | logout
    | log out | log off | power off | power | door open | exit to app | right from bracket
    | arrow right from bracket | box arrow right | box arrow in left | close account
    | cart checkout | shopping cart checkout | cart arrow down | cart check | bag check | checkout
    | cash register | point of sale | credit card* | creditcard | payment* | payments | pay | paid
    | money* | cash | wallet | bank transfer | banknote* | coins | dollar* | euro sign | cc visa
    | cc mastercard | cc amex | cc paypal | cc stripe | paypal | apple pay | google pay | stripe
    | alipay | hand holding usd | hand holding dollar | donate | gavel | hammer bid
    | volunteer activism | paper plane* | paperplane | send* | mail send | forward to inbox
    | reply all | outgoing mail | share* | cloud upload* | cloud arrow up | upload* | file upload
    | publish* | rocket* | deploy | git merge | merge | code merge | git pull request closed
    | git commit | check circle | circle check | check all | check double | done all | verified
    | task alt | signature | sign contract | file signature | draw signature | handshake*
    | thumbs up | thumb up | ban | block | gpp bad | do not disturb | unsubscribe* | unlink
    | link off | link slash | link break | restart* | reset | rotate left | undo all
    | restore from trash | stop circle | cancel schedule send | cancel presentation | event busy
    | calendar x | calendar xmark | calendar check | event available | user plus | person add
    | group add | invite* | 🗑 | 🚮 | 💳 | 💸 | 💵 | 💶 | 💷 | 💴 | 💰 | 🪙 | 🏧 | 📤 | 📨 | 📩 | 📮
    | 🚀 | 🚪 | ⏻ | ⏼ | ⭘ | ➤ | ✅ | ☑ | 🛑 | ⛔ | 🚫 | 🔨 | 💣 | ☠ | 🧨 | 🤝 | ✍ | 🖊 | 🔄 | ♻"""
NOT_ICONS = """block quote | block list | share of | ban ana | display block | d block | block grid
    | inline block | btn block | pay attention | send back | upload date | power bi | powered
    | code block | content block | block content | block title | payload | btn share none"""

# What identifiers are glued together from, in lower case: `btnlogout`, `deletebutton`.
_GLUE = """btn | button | link | icon | form | item | items | user | page | all | now | my | do
    | js | account | file | order | plan | cmd | action | on | is | url | menu | nav | profile
    | row | entry"""


def _phrases(data: str) -> list[str]:
    return [" ".join(each.split()) for each in data.split("|")]


def _glued(words: list[str]) -> Iterator[str]:
    """The words as they stand in an identifier that nothing parts."""
    for word in words:
        if " " in word or "-" in word:
            continue
        for glue in _phrases(_GLUE):
            yield f"{word}{glue}"
            yield f"{glue}{word}"


_SHORT_OR_NOT = {folded(word): True for word in _phrases(TWO_MEANINGS)} | {
    folded(word): False for word in _phrases(ONE_MEANING)
}


def _guarded(language: str, phrases: list[str]) -> Iterator[str]:
    """The phrases of a language, those that other languages use otherwise held to its own."""
    for phrase in phrases:
        plain = folded(phrase)
        short = plain.isalpha() and _SHORT_OR_NOT.get(plain, len(plain) <= SHORT)
        if language not in BESIDE or not short:
            yield phrase
        else:
            yield f"={phrase}"
            for beside in _phrases(BESIDE[language]):
                yield f"{phrase} {beside}"
                yield f"{beside} {phrase}"


def _denied(meanings: frozenset[str]) -> Iterator[str]:
    for language, rows in DENIED.items():
        for meaning in sorted(meanings):
            phrases = _phrases(rows[meaning])
            yield from _guarded(language, phrases)
            if language == "en":
                yield from _glued(phrases)


def _final() -> Iterator[str]:
    """What cannot be taken back, and of the list above what does something: it is that as well."""
    for language, data in FINAL_WORDS.items():
        yield from _guarded(language, _phrases(data))
    yield from _denied(frozenset({"delete", "remove", "submit", "purchase", "buy"}))


FINAL: Lexicon = lexicon(
    _final(),
    _phrases(f"{NOT_FINAL} | {COOKIES}"),
    openers=_phrases(OPENERS),
    joints=_phrases(JOINTS),
)
ICONS: Lexicon = lexicon(_phrases(ICON_WORDS), _phrases(NOT_ICONS))


@lru_cache(maxsize=32)
def _configured(words: tuple[str, ...]) -> tuple[Lexicon, tuple[str, ...]]:
    """What is told by its meaning, and what a person added, which counts wherever it stands."""
    meanings = frozenset(_MEANS[word] for word in words if word in _MEANS)
    others = tuple(word for word in words if word not in _MEANS)
    return lexicon(_denied(meanings), _phrases(NOT_DENIED)), others


def denied_by(text: str, configured: tuple[str, ...]) -> str:
    """The first risky word that the text says, of a policy's denylist; empty when it says none."""
    told, others = _configured(configured)
    said = said_by(text, told)
    if said or not others:
        return said
    raw, plain = text.casefold(), folded(text)
    for word in others:
        if word and (word.casefold() in raw or folded(word) in plain):
            return word
    return ""
