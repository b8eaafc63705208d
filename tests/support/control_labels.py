"""Controls say this, in many languages: labels that must be told as risky, and harmless ones."""

RISKY = {
    "en": """Delete | Delete this item permanently | Remove from list | Log out
        | Sign out of all devices | Submit application | Buy now | Buy with 1-Click
        | Proceed to checkout | Complete purchase | Pay $12.99 | Pay now | Place your order
        | Order now | Order | Confirm | Confirm and pay | Yes, cancel my subscription
        | Cancel membership | Finish cancellation | Cancel plan | Send | Send message
        | Send money | Publish | Publish post | Transfer | Transfer funds | Approve | Accept
        | Accept terms | I agree | Sign document | Unsubscribe | Deactivate | Close account
        | Close my account | Erase all content | Wipe device | Reset password | Factory reset
        | Terminate instance | Book now | Book a table | Reserve | Reserve seats | Donate
        | Donate $5 | Place bid | Bid | Withdraw | Withdraw funds | Invite | Invite people
        | Share | Share with everyone | Upload | Upload file | Post | Post comment | Deploy
        | Deploy to production | Merge | Merge pull request | Restart server | Reboot
        | Subscribe | Empty trash | Revoke access | Disconnect | Account settings
        | Payment methods | Preferences | Decline | Reject offer | Renew subscription
        | Start free trial | Redeem | Leave group | Block user | btnDeleteAccount | delete-btn
        | remove_from_cart | submitForm | onCheckoutClick | signoutlink | PLACE ORDER
        | d\u00adelete | ｄｅｌｅｔｅ""",
    "de": """Löschen | Konto löschen | Entfernen | Abmelden | Jetzt kaufen | Zur Kasse
        | Bezahlen | Zahlungspflichtig bestellen | Jetzt kündigen | Kündigung bestätigen
        | Absenden | Senden | Veröffentlichen | Überweisung ausführen | Akzeptieren | Zustimmen
        | Unterschreiben | Stornieren | Hochladen | Spenden | Buchen | Reservieren
        | Zurücksetzen | Einstellungen""",
    "fr": """Supprimer | Supprimer le compte | Se déconnecter | Acheter | Payer | Commander
        | Valider la commande | Confirmer | Résilier mon abonnement | Envoyer | Publier
        | Accepter | Signer | Réserver | Faire un don | Inviter | Partager | Téléverser
        | Réinitialiser | Paramètres | Annuler la commande""",
    "es": """Eliminar | Borrar cuenta | Cerrar sesión | Comprar ahora | Pagar | Realizar pedido
        | Confirmar | Cancelar suscripción | Darse de baja | Enviar | Publicar | Aceptar
        | Firmar | Reservar | Donar | Invitar | Compartir | Restablecer | Ajustes | Transferir""",
    "it": """Elimina | Rimuovi | Esci | Acquista ora | Paga | Conferma | Disdici abbonamento
        | Invia | Pubblica | Accetta | Firma | Prenota | Dona | Condividi | Impostazioni
        | Annulla ordine""",
    "pt": """Excluir | Apagar conta | Sair | Comprar | Pagar | Finalizar compra | Confirmar
        | Cancelar assinatura | Enviar | Publicar | Aceitar | Assinar | Reservar | Doar
        | Compartilhar""",
    "nl": """Verwijderen | Uitloggen | Afrekenen | Betalen | Bestelling plaatsen | Bevestigen
        | Abonnement opzeggen | Verzenden | Akkoord | Ondertekenen | Boek nu | Delen
        | Instellingen""",
    "pl": """Usuń | Usuń konto | Wyloguj się | Kup teraz | Zapłać | Złóż zamówienie | Potwierdź
        | Anuluj subskrypcję | Wyślij | Opublikuj | Akceptuję | Zarezerwuj | Udostępnij
        | Ustawienia""",
    "sv": """Radera | Ta bort | Logga ut | Köp nu | Betala | Bekräfta | Säg upp abonnemang
        | Skicka | Publicera | Godkänn | Boka | Dela | Inställningar""",
    "da": """Slet | Fjern | Log ud | Køb nu | Betal | Bekræft | Opsig abonnement | Send
        | Godkend | Bestil | Del | Indstillinger""",
    "tr": """Sil | Hesabı sil | Çıkış yap | Satın al | Ödeme yap | Siparişi onayla | Onayla
        | Aboneliği iptal et | Gönder | Yayınla | Kabul et | İmzala | Paylaş | Ayarlar | ONAYLA""",
    "cs": """Smazat | Odstranit účet | Odhlásit se | Koupit | Zaplatit | Objednat | Potvrdit
        | Zrušit předplatné | Odeslat | Publikovat | Souhlasím | Rezervovat | Sdílet | Nastavení""",
    "ru": """Удалить | Удалить аккаунт | Выйти | Купить | Оплатить | Оформить заказ
        | Подтвердить | Отменить подписку | Отправить | Опубликовать | Принять | Подписать
        | Забронировать | Поделиться | Настройки""",
    "uk": """Видалити | Вийти | Купити | Сплатити | Оформити замовлення | Підтвердити
        | Скасувати підписку | Надіслати | Опублікувати | Прийняти | Поділитися | Налаштування""",
    "ja": """削除 | アカウントを削除する | ログアウト | 購入する | 今すぐ買う | 支払う
        | 注文を確定する | 解約する | 送信 | 公開する | 同意する | 署名する | 予約する | 共有
        | 設定""",
    "zh": """删除 | 刪除帳號 | 退出登录 | 立即购买 | 支付 | 提交订单 | 确认 | 取消订阅 | 发送
        | 发布 | 同意并继续 | 转账 | 预订 | 分享 | 设置 | 结账""",
    "ko": """삭제 | 계정 삭제 | 로그아웃 | 구매하기 | 결제하기 | 주문하기 | 구독 취소 | 보내기
        | 게시 | 동의합니다 | 송금 | 예약하기 | 공유 | 설정 | 탈퇴하기""",
    "ar": """حذف | حذف الحساب | تسجيل الخروج | شراء الآن | ادفع الآن | تأكيد الطلب
        | إلغاء الاشتراك | إرسال | نشر | أوافق | توقيع | احجز الآن | مشاركة | الإعدادات""",
}

HARMLESS = {
    "en": """Search | Next | Previous | Back | Open | View | View details | Filter
        | Sort by price | Show more | Read more | Learn more | Home | About us | Contact | Help
        | FAQ | Menu | Close | Cancel | OK | Expand | Collapse | Download | Print | Zoom in
        | Play | Pause | Mute | Refresh | Reload | Today | Calendar | March | List view
        | Grid view | Language | English | Dark mode | News | Products | Pricing | Blog
        | Summit 2024 | Removable drives | Buyer's guide | Payload | Accountant jobs | Sign in
        | Log in | Continue reading | Page 2 | Last page | Skip to content | Order history
        | Order status | Book reviews | Share prices | Cancelled orders | Release notes
        | Recently viewed | Categories | Weather | Maps | Directions | Opening hours
        | Terms of service | Privacy policy | Careers | Investors | Tides | Harbour | Ships
        | Timetable | Add to wishlist | Compare | Reviews | Photos | Gallery | Videos | Episodes
        | Clear filters | Reset filters | Cancel search | Check out our new features
        | Signature dishes | Postcards | Bookshelf | Biddeford | Repayments explained
        | Submitted papers | Deleted scenes | Notification | Dashboard | Reports | Statistics
        | Overview | Details | History | Inbox | Drafts | Archive | Tags | Show password | Copy
        | Copy link | Select | Select all | Up | Down | Left | Right | Top | Start tour
        | What's new | Documentation | Settled cases | Unbuyable | tablist | nav-item
        | btn-primary | searchBox | next_page""",
    "de": """Suchen | Weiter | Zurück | Öffnen | Anzeigen | Mehr erfahren | Startseite | Hilfe
        | Filter | Sortieren | Kontakt | Über uns | Abbrechen | Schließen | Herunterladen
        | Anmelden | Karte | Büro | Kalender | Nächste Seite""",
    "fr": """Rechercher | Suivant | Précédent | Ouvrir | Voir | En savoir plus | Accueil | Aide
        | Filtrer | Trier | Annuler | Fermer | Télécharger | Se connecter | Calendrier
        | Mes commandes""",
    "es": """Buscar | Siguiente | Anterior | Abrir | Ver más | Inicio | Ayuda | Filtrar
        | Cancelar | Cerrar | Descargar | Iniciar sesión | Contacto | Ver detalles""",
    "it": """Cerca | Avanti | Indietro | Apri | Vedi tutto | Aiuto | Filtra | Annulla | Chiudi
        | Scarica | Accedi""",
    "pt": """Pesquisar | Próximo | Anterior | Abrir | Ver mais | Ajuda | Cancelar | Fechar
        | Baixar | Entrar""",
    "nl": """Zoeken | Volgende | Vorige | Openen | Bekijken | Meer lezen | Annuleren | Sluiten
        | Inloggen""",
    "pl": """Szukaj | Dalej | Wstecz | Otwórz | Zobacz | Pomoc | Anuluj | Zamknij | Pobierz
        | Zaloguj się""",
    "sv": """Sök | Nästa | Föregående | Öppna | Visa | Hjälp | Avbryt | Stäng | Logga in
        | Kontoret""",
    "da": "Søg | Næste | Forrige | Åbn | Vis | Hjælp | Annuller | Luk | Log ind | Læs mere",
    "tr": """Ara | İleri | Geri | Aç | Görüntüle | Yardım | İptal | Giriş yap | Sonraki
        | Filtrele""",
    "cs": """Hledat | Další | Zpět | Otevřít | Zobrazit | Nápověda | Zrušit | Zavřít
        | Přihlásit se""",
    "ru": """Поиск | Далее | Назад | Открыть | Показать | Помощь | Отмена | Закрыть | Войти
        | Подробнее""",
    "uk": """Пошук | Далі | Назад | Відкрити | Показати | Допомога | Скасувати | Закрити
        | Увійти""",
    "ja": """検索 | 次へ | 戻る | 開く | 表示 | 詳細を見る | ヘルプ | キャンセル | 閉じる
        | ログイン | ホーム""",
    "zh": "搜索 | 下一页 | 上一页 | 打开 | 查看 | 帮助 | 取消 | 关闭 | 登录 | 首页 | 更多",
    "ko": "검색 | 다음 | 이전 | 열기 | 보기 | 도움말 | 취소 | 닫기 | 로그인 | 더 보기",
    "ar": """بحث | التالي | السابق | فتح | عرض | مساعدة | إلغاء | إغلاق | تسجيل الدخول | المزيد""",
}

RISKY_ICONS = """fa fa-trash | fas fa-trash-alt | fa-solid fa-trash-can | bi bi-trash3-fill
    | feather-trash-2 | mdi mdi-delete-forever | delete_outline | icon-remove
    | glyphicon glyphicon-trash | lucide-trash-2 | fa-credit-card | payment
    | bi-credit-card-2-front | fa-paper-plane | send | bi-send-fill | fa-sign-out-alt
    | fa-right-from-bracket | logout | bi-box-arrow-right | power_settings_new | fa-power-off
    | shopping_cart_checkout | ic_delete_24px | trash.svg | icons/delete-white.png
    | check-circle | fa-circle-check | 🗑️ | 💳 | 📤 | fa-user-minus | close-account | btn-danger
    | share-nodes | cloud-upload-alt | iconTrash | codicon-trash | octicon-git-merge
    | tabler-trash-x"""
HARMLESS_ICONS = """fa fa-search | bi bi-house | chevron_right | arrow_back | menu | fa-bars
    | expand_more | close | fa-times | mdi-magnify | feather-eye | info | help_outline | star
    | heart | filter_list | sort | calendar_today | fa-globe | language | play_arrow | pause
    | volume_up | fullscreen | logo.svg | avatar.png | btn btn-primary | nav-link active
    | d-block w-100 | btn-block | 🔍 | ⭐ | fa-chevron-down | download | print | home
    | more_vert | visibility | bookmark | map-pin | bell"""

# What is only named, in seven languages: nothing happens when it is clicked but that it is shown.
NAMES = {
    "people": """Tom Baker | Jane Doe | Dona Ana | Tom | Bill Ward | Mark Kop | Will Stem
        | Grace Kelly | Sue Perkins | Art Blakey | Rob Byd | Pat Buda | Ana Boka | Dela Rosa
        | Maria Firma | Sil Austin | Subir Banerjee | Jan Deel | Wis Teken | Kasa Novak | Otto Kauf
        | Anna Posten | Lars Flet | Paul Poster | John Carter | Peter Sellers | Rose Porter
        | Harry Potter | Drew Carey | Chuck Norris | Pierre Virer | Luc Commander | Chance Rapper
        | Sandy Beach | Klaus Regler | Quita Brown | Paolo Conta | Rita Vota | Pia Sair | Nils Dela
        | Karin Svar | Ola Kassa | Marie Achat | Rocky Balboa | Hope Solo | Jack Ryan | Mia Ode
        | Ida Holm | Tim Cook | Doe, Jane | Baker, Tom""",
    "days": """Sat | Sat 14 June | Sun 15 June | Mon | Tue 3 | Wed | Thu | Fri | Saturday | Mo | Di
        | Mi | Do | Fr | Sa | So | Sonntag | Montag | Dienstag | Mittwoch | Freitag | Lundi | Mardi
        | Jeudi | Vendredi | Samedi | Dimanche | Lunes | Martes | Miércoles | Jueves | Viernes
        | Lunedì | Martedì | Mercoledì | Giovedì | Venerdì | Domenica | Maandag | Dinsdag
        | Woensdag | Donderdag | Zaterdag | Zondag | Segunda | Terça | Quarta | Sexta""",
    "months": """Jan | Feb | Mar | Apr | May | Jun | Jul | Aug | Sep | Oct | Nov | Dec | January
        | August | Januar | Mai | Juni | Dezember | Janvier | Février | Avril | Juillet | Enero
        | Junio | Gennaio | Maggio | Ottobre | Januari | Mei | Janeiro | Março | Maio""",
    "places": """Kobe | Kobe, Japan | Zahle | Reading | Nice | Cork | Bath | Split | Orange | Essen
        | Bonn | Münster | Bergen | Siegen | Sale | Turin | Bari | Pisa | Lucca | Vigo | León
        | Cádiz | Toledo | Lille | Nancy | Tours | Brest | Vannes | Delft | Breda | Ede | Edam
        | Faro | Braga | Sintra | Phoenix | Buffalo | Mobile | Troy | Order of Malta
        | Bank of England | Port of Spain""",
    "products": """Order #1234 | Order #A-1234 | Order 1234 | Order No. 77 | Orders | Invoice #9
        | Stem cells | Brain stem | View poster | Film poster | Movie posters | Permanent marker
        | Permanent
        | Permanent address | Star Trek: Commander | Lieutenant Commander | Deposit box | Tip jar
        | Charge cable | Phone charger | Vote results | Voting booth | Kill Bill | Insurance claim
        | Reset button cover | Trade fair | Trade names | Blockbuster | Block of flats | Sign shop
        | Posters and prints | Postbox | Booklet | Book 3 | Bookends | Booking.com reviews
        | Reserve wines | Ship models | Hire cars overview | Launch pad | Push pins
        | Share certificates | Shared folders | Release 2.4 | Post #12 | Transfer paper
        | Forward gear | Replies | Fire alarm | Fire extinguishers | Exports by country
        | Upload speed | Recent uploads | Sleeping bag | Payslip templates | Paying guests
        | Sellers | Bestseller | Refund policy | Voter list | Donor list | Firma anlegen | Firmen
        | Kassettenrekorder | Bieter | Poster A2 | Posten 3 | Spender | Teil 2 | Teiler | Bücher
        | Buch der Woche | Sendung | Sendungen | Bestand | Leergut | Commander Cody | Poste
        | Postes | Voile | Carte | Don Quijote | Carica batterie | Borrador | Pagoda | Deel 1
        | Deel 2 van 3 | Teken A | Leeg glas | Boek 2 | Boekenplank | Conto | Sair de férias
        | Dom Casmurro | Ode to Joy | Sat nav | Stain remover | First responders | First responder
        | Suspender belt | Place to stay | Her stem | Poster en couleur | Signer name | Boeken
        | Plaatsen | Contact opnemen | Te koop | Ordina per prezzo | Carica altro | Kapat | Yenile
        | Achat Hotel""",
    "headings": """Name | First name | Surname | Firm | Address | City | Country | Amount | Balance
        | Price | Quantity | Total | Subtotal | Date | Due date | Status | Owner | Type | Size
        | Created | Modified | Last updated | Priority | Assignee | Description | Notes | Category
        | Payee | Payer name | Seller | Buyer | Sender | Recipient | Subject | Received | Paid on
        | Shipped | Sent on | Vorname | Nachname | Betrag | Menge | Datum | Empfänger | Absender
        | Betreff | Nom | Prénom | Montant | Quantité | Expéditeur | Apellido | Importe | Cantidad
        | Cognome | Importo | Quantità | Achternaam | Bedrag | Aantal | Afzender | Sobrenome
        | Quantia | Remetente""",
    "tabs": """General | Overview | Members | Activity | Files | Wiki | Issues | Pull requests
        | Branches | Commits | Actions | Security | Insights | Board | Backlog | Timeline
        | Attachments | Permissions | Roles | Invoices | Orders | Customers | Suppliers | Stock
        | Warehouse | Übersicht | Mitglieder | Dateien | Rechnungen | Kunden | Lager | Aperçu
        | Membres | Fichiers | Factures | Clients | Resumen | Miembros | Archivos | Facturas
        | Clientes | Panoramica | Membri | Fatture | Clienti | Overzicht | Leden | Bestanden
        | Facturen | Klanten | Resumo | Membros | Faturas | Done | OK | Continue | Next step""",
}

COOKIES = """Accept all cookies | Accept all | Accept cookies | Reject all | Reject all cookies
    | Decline all | Agree and continue | Agree & continue | Accept & close | Accept and continue
    | Only necessary | Accept only necessary | Accept essential cookies | Accept selected
    | Manage consent | Continue without accepting | Reject optional cookies | Alle akzeptieren
    | Alle ablehnen | Alle Cookies akzeptieren | Nur notwendige | Nur notwendige Cookies
    | Akzeptieren und weiter | Zustimmen und weiter | Auswahl bestätigen | Tout accepter
    | Tout refuser | Accepter tous les cookies | Accepter et continuer | Continuer sans accepter
    | Aceptar todo | Aceptar todas las cookies | Rechazar todo | Aceptar y continuar
    | Solo necesarias | Accetta tutti | Rifiuta tutti | Accetta i cookie | Accetta e continua
    | Continua senza accettare | Aceitar tudo | Rejeitar tudo | Aceitar todos os cookies
    | Alles accepteren | Alles weigeren | Alle cookies accepteren | Zaakceptuj wszystkie
    | Odrzuć wszystkie | Acceptera alla | Avvisa alla | Accepter alle | Afvis alle
    | Tümünü kabul et | Tümünü reddet | Přijmout vše | Odmítnout vše | Принять все | Отклонить все
    | Прийняти всі | すべて受け入れる | すべて拒否 | 全部接受 | 全部拒绝 | 모두 수락 | 모두 거부
    | قبول الكل | رفض الكل"""

# Said by a button alone: yes to whatever was asked, or the end of it.
YES = """Yes | YES! | Finish | Complete | Proceed | Go ahead | Do it | OK, do it | Yes, do it | Ja
    | Fertigstellen | Abschließen | Oui | Terminer | Sí | Finalizar | Sì | Procedi | Sim | Concluir
    | Voltooien | Tak | Zakończ | Slutför | Gennemfør | Evet | Tamamla | Ano | Dokončit | Да
    | Завершить | Так | Завершити | はい | 完了 | 是 | 完成 | 예 | 완료 | نعم"""

# A long one begins with what it does, or with who wants it done, or names it beyond doubt.
LONG_RISKY = """Delete all the files in this folder and its subfolders
    | I agree to the terms of service and the privacy policy
    | Yes, I want to end my membership today | Please confirm that these details are correct
    | Click here to pay the invoice of this month
    | Total for three items including shipping: place your order | Save the draft & send it to all
    | Ja, ich möchte mein Abonnement zum Monatsende kündigen | Alle Elemente im Papierkorb löschen
    | Ich stimme den Bedingungen zu und bestelle zahlungspflichtig | Review the order and pay
    | Oui, je veux résilier mon abonnement dès maintenant | Mein Konto jetzt endgültig löschen
    | Bestellung prüfen und kostenpflichtig bestellen | Pay $1,299.00 to Acme Ltd from savings"""

# What is reported, by papers and in rows of a mailbox. Clicked, it is read.
HEADLINES = """Why Apple may sell its TV unit | Judge blocks order to release files
    | Senate vote on budget | Tesla to restart factory | How we deploy 10 times a day
    | Court to reject appeal | Fed may charge banks more | Kill Bill review | Iran to accept deal
    | Best tips for travel | Weather for Saturday | Show HN: a terminal editor | Team claims title
    | The art of negotiation | Man dies in crash | New phone released | Firms upgrade outlook
    | UK to reset EU ties | Ask HN: How to sell a startup | Your daily briefing
    | Amazon to invest $10bn | Users report outage | Sign of the times | Fire destroys warehouse
    | Minister to publish report | 10 books to read | Bank transfer fees explained
    | Trump threatens to revoke license | Rail strike: what it means | Netflix confirms price rise
    | Parliament to vote on pension reform next week | Three ways hackers wipe servers clean
    | Union members reject pay offer from airline | City council approves plan to close two schools
    | Star striker to sign for rivals | Why so many people cancel gym contracts in February
    | Startup wants to destroy malaria | Banks agree to disclose climate risk
    | Farmers sell cattle as drought deepens | Storm forces ferries to cancel crossings
    | Regulator may block merger of grocers | Nobel laureate will donate prize money to school
    | How to book cheap trains in Italy | Museum to return looted bronzes
    | Voters decline to back the mayor | What happens when you accept every invitation
    | Ministers approve new nuclear plant | Airline will refund thousands after outage
    | Is it time to upgrade your router? | Ann Lee Re: your order confirmation please approve
    | Acme Shop Your order confirmation for order 5521 is attached
    | Bob Stone Fwd: can you sign the lease and send it back
    | Payroll team Reminder to submit timesheets before Friday noon
    | Konzern will Sparte für Medizintechnik noch dieses Jahr verkaufen
    | Bundestag soll im Herbst über Rente abstimmen müssen
    | Le Sénat pourrait refuser le budget de la défense
    | El Gobierno quiere aprobar la ley antes del verano
    | Il ministro non accetta le critiche dei sindacati
    | Kabinet wil stikstofwet na de zomer intrekken zegt minister
    | Governo deve aprovar novo imposto sobre bebidas"""


def labels(data: str) -> list[str]:
    return [" ".join(each.split()) for each in data.split("|")]
