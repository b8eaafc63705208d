"""What controls say, in many languages: labels that must be told as risky, and harmless ones."""

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


def labels(data: str) -> list[str]:
    return [" ".join(each.split()) for each in data.split("|")]
